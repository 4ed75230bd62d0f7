import type { Context } from 'koa';
import { sessionKeyHeader, unattendedHeader } from '../../../schema/api/session.ts';
import type { PresentedSession } from './sessions.ts';

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
