import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { sessionKeyHeader, unattendedHeader } from '../../../schema/api/conventions.ts';
import {
  type StoredSession,
  type StoredSessions,
  sessionIdleMs,
  toSessionId,
} from '../../../store/ports/stored-sessions.ts';

/** @limit Lifetime of a dashboard session that an API token began, in ms: a working day. Revoking the token ends it. */
export const tokenSessionMs = 12 * 60 * 60 * 1000;
/** @limit Lifetime of a dashboard session of a person, in ms: a removed group is noticed only at the next sign-in. */
export const personSessionMs = 4 * 60 * 60 * 1000;
/** @limit Most dashboard sessions of one API token or person: beyond it their own oldest one ends, so that memory stays bounded. */
const sessionsPerOwnerMax = 100;
/** @limit Precision of a dashboard session's last use, in ms: a request writes nothing while the stored one is younger. */
const sessionUseMs = 60_000;

/** Sessions of the dashboard. Revoking a token ends its sessions. */
export interface Sessions {
  /** Begins a session with two secrets: the ID for the cookie, and the key for the page. Keeps only a hash of both. */
  begin(session: StoredSession, lifetimeMs: number): Promise<Omit<PresentedSession, 'isAttended'>>;
  /** Finds a session, and records its use; undefined if it is over or began at another host. */
  find(presented: PresentedSession): Promise<StoredSession | undefined>;
  end(presented: PresentedSession): Promise<void>;
  /** The ID by which people name the session. */
  identify(presented: PresentedSession): string;
}

/** A session as a request presents it. It is valid only at the host and port at which it began. */
export interface PresentedSession {
  /** From the cookie, which browsers send to every port of the host. */
  readonly id: string;
  /** From a header. Only the page has it, in the storage of its origin, to which the port belongs. */
  readonly key: string;
  readonly host: string;
  /** Whether somebody has used the page within the last minute. */
  readonly isAttended: boolean;
}

interface SessionsOptions {
  readonly stored: StoredSessions;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

export function createSessions({ stored, randomBytes, log }: SessionsOptions): Sessions {
  const hashBoth = ({ id, key }: Pick<PresentedSession, 'id' | 'key'>) => hash('sha256', `${id} ${key}`);
  const makeSecret = () => Buffer.from(randomBytes(32)).toString('base64url');
  const recording = new Map<string, Promise<void>>();
  const recordUse = (digest: string) => {
    // A full disk must not sign out those who look at it.
    const failed = 'cannot record the use of a session, which ends when it seems to be idle';
    const writing =
      recording.get(digest) ??
      stored
        .recordUse(digest)
        .catch((err: unknown) => log.warn({ err }, failed))
        .finally(() => recording.delete(digest));
    recording.set(digest, writing);
    return writing;
  };
  return {
    begin: async (session, lifetimeMs) => {
      const begun = { id: makeSecret(), key: makeSecret(), host: session.host };
      await stored.keep(hashBoth(begun), session, { lifetimeMs, perOwnerMax: sessionsPerOwnerMax });
      return begun;
    },
    find: async presented => {
      const digest = hashBoth(presented);
      const session = await stored.find(digest, sessionIdleMs);
      if (session?.host !== presented.host) return undefined;
      if (presented.isAttended && session.idleForMs >= sessionUseMs) {
        await recordUse(digest);
      }
      return session;
    },
    end: presented => stored.remove(hashBoth(presented)),
    identify: presented => toSessionId(hashBoth(presented)),
  };
}

/** The cookie of a session, which is worth nothing without the key in a header. */
export interface SessionCookie extends Omit<PrivateCookie, 'read'> {
  /** Reads the session that the request presents by cookie and key; undefined without both. */
  read(context: Context): PresentedSession | undefined;
}

export function createSessionCookie(managementUrl: string | undefined): SessionCookie {
  const cookie = createCookie(managementUrl, 'session');
  return {
    ...cookie,
    read: context => {
      const id = cookie.read(context);
      const key = context.get(sessionKeyHeader);
      if (id === undefined || key === '') return undefined;
      const isAttended = context.get(unattendedHeader) === '';
      return { id, key, host: context.headers.host ?? '', isAttended };
    },
  };
}

/**
 * A cookie that scripts and other sites cannot read. Behind a TLS proxy it travels only over TLS. Browsers send a cookie
 * to every port of a host, so without TLS its name has the port.
 */
export interface PrivateCookie {
  read(context: Context): string | undefined;
  write(context: Context, value: string, lifetimeMs: number): void;
  clear(context: Context): void;
}

export function createCookie(managementUrl: string | undefined, name: string): PrivateCookie {
  const url = managementUrl === undefined ? undefined : new URL(managementUrl);
  // Browsers refuse a `__Host-` cookie that was set over plain HTTP or by a sibling domain (RFC 6265bis).
  const isSecure = (context: Context) => url?.protocol === 'https:' && context.headers.host === url.host;
  const getName = (context: Context) =>
    isSecure(context) ? `__Host-hookmill_${name}` : `hookmill_${name}_${getPort(context)}`;
  const write = (context: Context, value: string, lifetimeMs: number) => {
    const flags = `Path=/; HttpOnly; SameSite=Strict${isSecure(context) ? '; Secure' : ''}`;
    const cookie = `${getName(context)}=${value}; Max-Age=${lifetimeMs / 1000}; ${flags}`;
    context.append('Set-Cookie', cookie);
  };
  return {
    read: context => context.cookies.get(getName(context), { signed: false }),
    write,
    clear: context => write(context, '', 0),
  };
}

/** The port that the browser uses, which may belong to a proxy or a tunnel. */
function getPort({ headers }: Context): string {
  return /:(\d{1,5})$/.exec(headers.host ?? '')?.[1] ?? '80';
}
