import { z } from 'zod';
import { addMistake } from '../../schema/definitions/add-mistake.ts';
import { requirePinnedCaller } from '../../schema/definitions/oidc-keys.ts';
import { nameShape } from '../../schema/definitions/value-shapes.ts';
import { permissions } from '../../schema/grant.ts';
import { claimsShape } from '../../schema/oidc/claims.ts';
import { findIssuerMistake } from '../../schema/oidc/issuers.ts';

/** @limit Most entries of oidc.management: a factory needs two or three. */
const managementMax = 1_000;

const issuerShape = z.string().superRefine((text, context) => {
  const mistake = findIssuerMistake(text);
  if (mistake) addMistake(context, [], mistake.message, { code: 'definition/value', hint: mistake.hint });
});

const trustedIssuerShape = z.strictObject({
  issuer: issuerShape.describe('URL of the issuer, exactly as in the claim iss.'),
  keysUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('URL of its key set, if the issuer publishes no discovery document.'),
});

/** An issuer that may have a private address, or no https. */
export type TrustedIssuer = z.output<typeof trustedIssuerShape>;

const managementShape = z
  .strictObject({
    issuer: issuerShape.describe('URL of the issuer, or github-actions, gitlab, google or buildkite.'),
    audience: z
      .string()
      .min(1)
      .optional()
      .describe('Audience that its tokens must have; by default, managementUrl.'),
    claims: claimsShape.describe('Claims that its tokens must have, as in a webhook.'),
    permission: z.enum(permissions).describe('The permission that such a token has.'),
    factory: nameShape.optional().describe('Factory that it is for; without this key, all.'),
  })
  .superRefine(requirePinnedCaller);

/** The key `oidc` of the daemon's configuration file. */
export const oidcSettingsShape = z.strictObject({
  issuers: z
    .array(trustedIssuerShape)
    .default([])
    .describe('Issuers that may have private addresses or plain http; public ones need no entry.'),
  management: z
    .array(managementShape)
    .max(managementMax)
    .default([])
    .describe('OpenID Connect tokens that may use the management API, such as the tokens of CI jobs.'),
});

export type OidcSettings = z.output<typeof oidcSettingsShape>;
