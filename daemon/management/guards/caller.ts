import type { IncomingMessage } from 'node:http';
import { ApiProblem } from '../../../schema/api/problems.ts';
import type { RoutePermission } from '../../../schema/api/route.ts';
import type { Permission } from '../../../schema/permission.ts';
import type { ApiToken } from '../../../store/api-tokens.ts';
import type { KnownTokens } from './known-tokens.ts';
import type { PresentedSession, Sessions } from './sessions.ts';

/** Who sent a request: an API token, directly or through a session of the dashboard. */
export interface Caller {
  readonly token: ApiToken;
  readonly over: 'token' | 'session';
}

export interface Credentials {
  /** The `Authorization` header, unchanged. */
  readonly authorization: string | undefined;
  readonly session: PresentedSession | undefined;
}

/** Identifies the caller. Fails with `not-signed-in`, `token-unknown` or `session-over`. */
export async function identifyCaller(
  { authorization, session }: Credentials,
  tokens: KnownTokens,
  sessions: Sessions,
): Promise<Caller> {
  if (authorization !== undefined) {
    const presented = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    const token = presented === undefined ? undefined : await tokens.find(presented);
    if (!token) throw new ApiProblem('token-unknown');
    return { token, over: 'token' };
  }
  if (!session) throw new ApiProblem('not-signed-in');
  const digest = await sessions.findTokenDigest(session);
  const token = digest === undefined ? undefined : await tokens.findDigest(digest);
  if (!token) throw new ApiProblem('session-over');
  return { token, over: 'session' };
}

/** Fails with `not-permitted` unless the caller's token has the permission that the route needs on its factory. */
export function requirePermission(
  { token }: Caller,
  needed: Exclude<RoutePermission, 'public'>,
  factory: string | undefined,
): void {
  if (needed === 'signed-in') return;
  if (factory !== undefined && maySee(token, factory) && permits(token.permission, needed)) return;
  const detail = `the API token ${token.name} may not ${needed} the factory ${factory}`;
  throw new ApiProblem('not-permitted', { detail });
}

export function maySee(token: ApiToken, factory: string): boolean {
  return token.factory === null || token.factory === factory;
}

function permits(permission: Permission, needed: Permission): boolean {
  return permission === 'manage' || needed === 'read';
}

/** Refuses writes that another site made a browser send. Fails with `cross-site`. */
export function requireSameSite({ method, headers }: IncomingMessage): void {
  if (method === 'GET' || method === 'HEAD') return;
  const { origin, host } = headers;
  if (origin !== undefined && parseHost(origin) !== host) throw new ApiProblem('cross-site');
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new ApiProblem('cross-site');
}

function parseHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
