import { type CryptoKey, decodeJwt, errors, jwtVerify, type KeyObject } from 'jose';
import type { ApiAnswer } from './sender-server.ts';

/** What has hooks. The IDs are those that payloads and headers have. */
export interface GithubOwner {
  readonly kind: 'repository' | 'organization' | 'app';
  /** `acme/shop`, `acme`, or the app's client ID. GitHub ignores the case. */
  readonly name: string;
  readonly id: number;
}

export interface GithubToken {
  readonly kind: 'classic' | 'fine-grained' | 'installation';
  /** The scopes of a classic token. */
  readonly scopes?: readonly string[];
  /** The permission "Webhooks" of the other tokens, for repositories and for organizations. */
  readonly repositoryHooks?: Access;
  readonly organizationHooks?: Access;
  /** The repositories and organizations that the token was granted. All if left out. */
  readonly grantedTo?: readonly string[];
}

export interface GithubApp {
  readonly id: number;
  readonly clientId: string;
  /** The key that belongs to the app's private key. */
  readonly publicKey: CryptoKey | KeyObject;
}

type Access = 'read' | 'write';

const jwtSecondsMax = 600;

// docs.github.com, "REST API endpoints for repository webhooks" and "… organization webhooks" (2026-11).
const scopes: Readonly<Record<'repository' | 'organization', Readonly<Record<Access, readonly string[]>>>> = {
  repository: {
    read: ['read:repo_hook', 'write:repo_hook', 'admin:repo_hook', 'repo'],
    write: ['write:repo_hook', 'admin:repo_hook', 'repo'],
  },
  organization: { read: ['admin:org_hook'], write: ['admin:org_hook'] },
};

/** The error that GitHub answers with. */
export function githubError(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ApiAnswer {
  const body = { message, documentation_url: 'https://docs.github.com/rest', status: String(status) };
  return { status, headers, body };
}

export const githubNotFound: ApiAnswer = githubError(404, 'Not Found');

/** The credential of a request, without `Bearer` or `token`. */
export function readCredential(authorization: string | undefined): string | undefined {
  return /^(?:bearer|token) (\S+)$/i.exec(authorization ?? '')?.[1];
}

/**
 * Refuses a token that may not do something with an owner's hooks. GitHub hides from a classic token without the scope,
 * and from any token that was not granted the owner, that there is one. It tells the other tokens which permission they
 * lack (docs.github.com, "Troubleshooting the REST API", 2026-11).
 */
export function refuseToken(
  token: GithubToken | undefined,
  { kind, name }: GithubOwner,
  access: Access,
): ApiAnswer | undefined {
  if (!token) return githubError(401, 'Bad credentials');
  // Only a JWT opens these (docs.github.com, "REST API endpoints for GitHub App webhooks", 2026-11).
  if (kind === 'app') return githubError(401, 'A JSON web token could not be decoded');
  if (token.grantedTo && !token.grantedTo.some(granted => isSameName(granted, name))) return githubNotFound;
  if (token.kind === 'classic') {
    const accepted = scopes[kind][access];
    if (accepted.some(scope => token.scopes?.includes(scope))) return undefined;
    return githubError(404, 'Not Found', {
      'x-oauth-scopes': token.scopes?.join(', ') ?? '',
      'x-accepted-oauth-scopes': accepted.join(', '),
    });
  }
  const permission = kind === 'repository' ? token.repositoryHooks : token.organizationHooks;
  if (permission === 'write' || permission === access) return undefined;
  const who = token.kind === 'installation' ? 'integration' : 'personal access token';
  return githubError(403, `Resource not accessible by ${who}`, {
    'x-accepted-github-permissions': `${kind}_hooks=${access}`,
  });
}

/**
 * Refuses a JWT that is not the app's: RS256, `iss` its client ID or its ID, `iat` not in the future, `exp` at most 10
 * minutes ahead (docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App", 2026-11).
 */
export async function refuseJwt(jwt: string, app: GithubApp, nowMs: number): Promise<ApiAnswer | undefined> {
  const refuse = (message: string) => githubError(401, message);
  try {
    const { iss } = decodeJwt(jwt) as { iss?: unknown };
    if (iss !== app.clientId && String(iss) !== String(app.id))
      return githubError(404, 'Integration not found');
    const { payload } = await jwtVerify(jwt, app.publicKey, {
      ...{ algorithms: ['RS256'], requiredClaims: ['iat', 'exp'], currentDate: new Date(nowMs) },
    });
    const nowSeconds = nowMs / 1000;
    if ((payload.iat ?? 0) > nowSeconds)
      return refuse(
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      );
    if ((payload.exp ?? 0) - nowSeconds > jwtSecondsMax)
      return refuse("'Expiration time' claim ('exp') is too far in the future");
    return undefined;
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      return refuse(
        "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
      );
    if (error instanceof errors.JOSEError) return refuse('A JSON web token could not be decoded');
    throw error;
  }
}

export function isSameName(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
