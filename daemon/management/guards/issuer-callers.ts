import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { explainClaims, type TokenClaims } from '../../../schema/oidc/claims.ts';
import { listIssuerNames, resolveIssuer } from '../../../schema/oidc/issuers.ts';
import type { IssuerKeys } from '../../issuers/issuer-keys.ts';
import type { OidcSettings } from '../../issuers/oidc-settings.ts';
import { verifyToken } from '../../issuers/verify-token.ts';
import type { Caller, IssuerCallers } from './caller.ts';

/** @limit Longest subject of a token that may use the management API, in characters, as OpenID Connect Core says (section 2). */
const subjectCharsMax = 255;

export interface IssuerCallersOptions {
  readonly management: OidcSettings['management'];
  /** The default audience. */
  readonly managementUrl: string | undefined;
  readonly keys: Pick<IssuerKeys, 'follow' | 'find' | 'seekKey'>;
  readonly nowMs: () => number;
}

/** Opens the callers that the settings allow, and follows their issuers. Each entry whose claims a token has grants its permission. */
export function openIssuerCallers({
  management,
  managementUrl = '',
  keys,
  nowMs,
}: IssuerCallersOptions): IssuerCallers {
  keys.follow(
    // No factory can have this name.
    'oidc.management',
    management.map(({ issuer }) => resolveIssuer(issuer)),
  );
  const entries = management.map(({ audience = managementUrl.replace(/\/+$/, ''), ...entry }) => ({
    ...entry,
    audience,
  }));
  const verify = async (presented: string, issuer: string, audience: string) => {
    const own = { issuer: resolveIssuer(issuer), issuers: listIssuerNames(issuer), audience, claims: {} };
    return verifyToken(presented, own, keys, nowMs());
  };
  return {
    isToken: presented => entries.length > 0 && presented.includes('.'),
    require: async presented => {
      const claimed = readIssuer(presented);
      const own = entries.filter(({ issuer }) => listIssuerNames(issuer).includes(claimed ?? ''));
      if (own.length === 0) throw refuse('it is not a token of an issuer in oidc.management');
      let failure = '';
      // Tokens of one issuer may have different audiences for different entries; most settings have one.
      for (const audience of new Set(own.map(entry => entry.audience))) {
        const issuer = own[0]?.issuer ?? '';
        const verified = await verify(presented, issuer, audience);
        if (verified.result === 'undecided') throw new ApiProblem('issuer-keys-missing');
        if (verified.result === 'refused') {
          failure = verified.explanation.cause;
          continue;
        }
        const { claims } = verified;
        const granted = own.filter(entry => entry.audience === audience && allows(entry, claims));
        if (granted.length > 0) return toCaller(resolveIssuer(issuer), claims, granted);
        failure = 'no entry of oidc.management allows its claims';
      }
      throw refuse(failure);
    },
  };
}

function allows({ claims }: OidcSettings['management'][number], token: TokenClaims): boolean {
  return explainClaims(claims, token) === undefined;
}

/** The cause may name claims: whoever sends a token knows its claims already. */
function refuse(cause: string): ApiProblem {
  return new ApiProblem('token-unknown', { detail: `The OpenID Connect token is refused: ${cause}` });
}

/** Reads the issuer that a token claims to have, which chooses the keys that verify it. */
function readIssuer(presented: string): string | undefined {
  try {
    const { iss } = decodeJwt(presented);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}

function toCaller(
  issuer: string,
  { sub: subject, exp }: TokenClaims,
  granted: OidcSettings['management'],
): Caller {
  if (typeof subject !== 'string' || subject.trim() === '' || subject.length > subjectCharsMax)
    throw refuse('it has no subject that the audit log can name (claim sub)');
  const grants = granted.map(({ factory = null, permission }) => ({ factory, permission }));
  const sha256 = hash('sha256', JSON.stringify([issuer, subject]));
  // A later time than this is no Date.
  const expiresAt = new Date(Math.min(Number(exp) * 1_000, 8.64e15)).toISOString();
  return { kind: 'workload', name: issuer, subject, sha256, grants, expiresAt, over: 'token' };
}
