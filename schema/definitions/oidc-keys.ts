import { z } from 'zod';
import { toClauses } from '../filters/clause.ts';
import { type AuthMode, authModes } from '../ingress-url.ts';
import { type ClaimFilter, claimsShape } from '../oidc/claims.ts';
import { findIssuerMistake, findPins, issuerCharsMax, issuerPresets } from '../oidc/issuers.ts';
import { joinWithOr } from '../text/suggestion.ts';
import { addMistake, type KeyRule } from './add-mistake.ts';

/** @limit Longest audience in a definition, in characters: it is usually a URL. */
const audienceCharsMax = 500;

const issuer = z
  .string()
  .superRefine((text, context) => {
    const mistake = findIssuerMistake(text);
    if (!mistake) return;
    addMistake(context, [], mistake.message, { code: 'webhook/issuer-invalid', hint: mistake.hint });
  })
  .meta({ maxLength: issuerCharsMax, examples: [...issuerPresets, 'https://login.example.com'] });

/** The keys of a webhook that only `authMode: oidc` has. */
export const oidcKeys = {
  issuer: issuer
    .optional()
    .describe(
      'Only with authMode oidc: the issuer that signs the tokens of the sender, as its URL or as a preset.',
    ),
  audience: z
    .string()
    .min(1)
    .max(audienceCharsMax)
    .optional()
    .describe(
      'Only with authMode oidc: the audience that a token must have; by default, the URL of the webhook.',
    ),
  claims: claimsShape
    .optional()
    .describe('Only with authMode oidc: the claims that a token must have; at least one pins the caller.'),
};

/** Whether a webhook has another mode. Not if the mode is invalid: nobody knows then which one is meant. */
export function isOtherMode(mode: unknown, than: AuthMode): boolean {
  return mode !== than && authModes.some(known => known === mode);
}

const ofOidc = (key: keyof typeof oidcKeys): KeyRule => ({
  holds: webhook => !isOtherMode(webhook.authMode, 'oidc') || webhook[key] === undefined,
  key,
  error: `${key} has no effect unless authMode is oidc`,
  params: {
    code: 'webhook/oidc-unexpected',
    hint: `write authMode: oidc, or remove ${key}`,
    atKey: true,
  },
});

const neededForOidc = (key: keyof typeof oidcKeys, hint: string): KeyRule => ({
  holds: webhook => webhook.authMode !== 'oidc' || webhook[key] !== undefined,
  key: 'authMode',
  error: `authMode oidc needs ${key}`,
  params: { code: 'webhook/oidc-missing', hint },
});

/** What `authMode: oidc` needs and excludes, and what all other modes need instead. */
export const oidcRules: readonly KeyRule[] = [
  neededForOidc('issuer', `add issuer: with the issuer of the sender's tokens, as in issuer: github-actions`),
  neededForOidc('claims', 'add claims: that only your caller has, as in claims: { repository: [acme/shop] }'),
  {
    holds: webhook => webhook.authMode !== 'oidc' || webhook.secretName === undefined,
    key: 'secretName',
    error: 'authMode oidc has no secret: the keys of the issuer verify',
    params: { code: 'webhook/oidc-unexpected', hint: 'remove secretName', atKey: true },
  },
  {
    holds: webhook => webhook.authMode === 'oidc' || webhook.secretName !== undefined,
    key: 'secretName',
    error: 'the key "secretName" is missing',
    params: {
      code: 'definition/missing-key',
      hint: 'add secretName: The team secret that holds the credential.',
      atKey: true,
    },
  },
  ...(['issuer', 'audience', 'claims'] as const).map(ofOidc),
];

/** Claims that say nothing about the caller. */
const impersonal = new Set(['aud', 'email_verified', 'exp', 'iat', 'iss', 'jti', 'nbf']);

/**
 * Says which claims would pin the caller; undefined if the claims do. A public issuer signs for everybody, so a token of
 * it proves nothing by itself.
 */
export function findUnpinned(
  issuer: string,
  claims: ClaimFilter,
): { readonly message: string; readonly hint: string } | undefined {
  const listed = new Map(
    Object.entries(claims).flatMap(([name, condition]) => {
      const clause = toClauses(condition)?.find(({ operator }) => operator === 'in');
      return clause && 'values' in clause ? [[name, clause.values] as const] : [];
    }),
  );
  const isPinned = (name: string) => {
    const allowed = listed.get(name);
    // Anybody can have an address that nobody has verified.
    if (name === 'email_verified') return allowed?.every(value => value === true) === true;
    return allowed?.every(value => typeof value === 'string' && value !== '') === true;
  };
  const message = 'these claims let every caller of the issuer in';
  const pins = findPins(issuer);
  if (!pins) {
    if ([...listed.keys()].some(name => !impersonal.has(name) && isPinned(name))) return undefined;
    return { message, hint: 'list the allowed values of a claim that only your caller has, such as sub' };
  }
  if (pins.some(together => together.every(isPinned))) return undefined;
  const choices = pins.map(together =>
    together.map(name => (name === 'email_verified' ? 'email_verified: [true]' : name)).join(' and '),
  );
  return { message, hint: `list the allowed values of ${joinWithOr(choices)}` };
}

/** Reports claims that let every caller of the issuer in. */
export function requirePinnedCaller(
  {
    issuer,
    claims,
  }: { readonly issuer?: string | undefined; readonly claims?: z.output<typeof claimsShape> },
  context: z.RefinementCtx,
): void {
  const unpinned = issuer !== undefined && claims && findUnpinned(issuer, claims);
  if (!unpinned) return;
  const { message, hint } = unpinned;
  addMistake(context, ['claims'], message, { code: 'webhook/claims-unpinned', hint });
}
