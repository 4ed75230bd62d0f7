import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { ApiProblem } from '../../../schema/api/problems.ts';
import type { RoutePermission } from '../../../schema/api/route.ts';
import { findPermission, type Grant, type Permission } from '../../../schema/grant.ts';
import { type ApiToken, type ApiTokens, digestToken } from '../../../store/ports/api-tokens.ts';
import type { StoredPerson } from '../../../store/ports/stored-sessions.ts';
import type { PresentedSession, Sessions } from './sessions.ts';

/** Who sent a request: an API token, directly or through a session of the dashboard, a person in such a session, or a workload with a token of an issuer. */
export interface Caller {
  readonly kind: 'token' | 'person' | 'workload';
  /** The name of the token or the person; of a workload, its issuer. */
  readonly name: string;
  /** The name that a person keeps forever at the provider, or a workload at its issuer; undefined for an API token. */
  readonly subject?: string;
  /** Different for each token, person and workload. */
  readonly sha256: string;
  /** All permissions of the caller. */
  readonly grants: readonly Grant[];
  /** When the credential itself expires, whatever a session does; null: never. */
  readonly expiresAt: string | null;
  readonly over: 'token' | 'session';
}

export interface Credentials {
  /** The `Authorization` header, unchanged. */
  readonly authorization: string | undefined;
  readonly session: PresentedSession | undefined;
}

/** Finds who sent a token of an issuer, such as a CI job. Nothing of it is kept. */
export interface IssuerCallers {
  /** Whether the text could be such a token: an API token has no dots. */
  isToken(presented: string): boolean;
  /** Fails with `token-unknown`, or with `issuer-keys-missing` if it cannot be verified now. */
  require(presented: string): Promise<Caller>;
}

export interface KnownCallers {
  readonly tokens: KnownTokens;
  readonly sessions: Sessions;
  readonly workloads: IssuerCallers;
  /** Finds the current grants of a person; none if people cannot sign in. */
  readonly findGrants: (person: StoredPerson) => readonly Grant[];
}

/** Identifies the caller. Fails with `not-signed-in` or `session-over`, and as `require` of `KnownTokens` and `IssuerCallers`. */
export async function identifyCaller(
  { authorization, session }: Credentials,
  { tokens, sessions, workloads, findGrants }: KnownCallers,
): Promise<Caller> {
  if (authorization !== undefined) {
    const presented = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (presented === undefined) throw new ApiProblem('token-unknown');
    if (workloads.isToken(presented)) return workloads.require(presented);
    return toCaller(await tokens.require(presented), 'token');
  }
  if (!session) throw new ApiProblem('not-signed-in');
  const found = await sessions.find(session);
  if (found?.person) {
    const grants = findGrants(found.person);
    if (grants.length === 0) throw new ApiProblem('session-over');
    return toPerson(found.person, found.ownerSha256, grants);
  }
  const token = found && (await tokens.findDigest(found.ownerSha256));
  if (!token) throw new ApiProblem('session-over');
  return toCaller(token, 'session');
}

export function toCaller(
  { name, sha256, factory, permission, expiresAt }: ApiToken,
  over: Caller['over'],
): Caller {
  return { kind: 'token', name, sha256, grants: [{ factory, permission }], expiresAt, over };
}

export function toPerson({ name, subject }: StoredPerson, sha256: string, grants: readonly Grant[]): Caller {
  return { kind: 'person', name, subject, sha256, grants, expiresAt: null, over: 'session' };
}

/** Returns the caller's permission on a route's factory. Fails with `not-permitted` unless it is what the route needs. */
export function requirePermission(
  caller: Caller,
  needed: Exclude<RoutePermission, 'public'>,
  factory: string | undefined,
): Permission | undefined {
  const permission = factory === undefined ? undefined : findPermission(caller.grants, factory);
  if (needed === 'signed-in' || permission === 'manage' || permission === needed) return permission;
  const who = nameCaller(caller);
  throw new ApiProblem('not-permitted', { detail: `${who} may not ${needed} the factory ${factory}` });
}

function nameCaller({ kind, name, subject }: Caller): string {
  if (kind === 'token') return `the API token ${name}`;
  return kind === 'workload' ? `${subject} of ${name}` : name;
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

/** @limit Precision of an API token's last use, in ms: a request writes nothing while the stored one is younger. */
const tokenUseMs = 60_000;

/** Finds API tokens that are stored now and have not expired, and records their use. */
interface KnownTokens {
  /** Fails with `token-unknown`, `token-revoked` or `token-expired`. */
  require(token: string): Promise<ApiToken>;
  findDigest(sha256: string): Promise<ApiToken | undefined>;
  /** Resolves when the last uses are written. */
  close(): Promise<void>;
}

interface KnownTokensOptions {
  readonly apiTokens: ApiTokens;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Opens the API tokens. A look-up fails if they cannot be read, so that nobody gets access then. */
export function openKnownTokens({ apiTokens, nowMs, log }: KnownTokensOptions): KnownTokens {
  const recordedUses = new Map<string, number>();
  let waiting = new Map<string, Date>();
  let writing = Promise.resolve();

  const writeUses = async () => {
    const uses = waiting;
    waiting = new Map();
    if (uses.size === 0) return;
    await apiTokens
      .recordUses(uses)
      .catch((error: unknown) => log.warn({ err: error }, 'cannot record the last use of API tokens'));
  };
  const recordUse = ({ sha256, lastUsedAt }: ApiToken) => {
    const recordedMs = recordedUses.get(sha256) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
    const atMs = nowMs();
    if (atMs - recordedMs < tokenUseMs) return;
    recordedUses.set(sha256, atMs);
    // The next write takes all uses that come during this one.
    waiting.set(sha256, new Date(atMs));
    writing = writing.then(writeUses);
  };

  const hasExpired = ({ expiresAt }: ApiToken) => expiresAt !== null && Date.parse(expiresAt) <= nowMs();

  const findDigest = async (sha256: string) => {
    const token = await apiTokens.find(sha256);
    if (!token || hasExpired(token)) return undefined;
    recordUse(token);
    return token;
  };
  const require = async (presented: string) => {
    const sha256 = digestToken(presented);
    const token = await apiTokens.find(sha256);
    // Only who has the token learns that it was valid once.
    if (!token)
      throw new ApiProblem((await apiTokens.wasRevoked(sha256)) ? 'token-revoked' : 'token-unknown');
    if (hasExpired(token)) throw new ApiProblem('token-expired');
    recordUse(token);
    return token;
  };
  return { require, findDigest, close: () => writing };
}
