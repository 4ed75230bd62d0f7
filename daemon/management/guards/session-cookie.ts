import type { Context } from 'koa';
import { sessionKeyHeader } from '../../../schema/api/session-key-header.ts';
import { type PresentedSession, sessionMs } from './sessions.ts';

/**
 * The cookie of a session, which is worth nothing without the key in a header. Scripts and other sites cannot read the
 * cookie. Behind a TLS proxy it travels only over TLS. Browsers send a cookie to every port of a host, so without TLS its
 * name has the port.
 */
export interface SessionCookie {
  /** Reads the session that the request presents by cookie and key; undefined without both. */
  read(context: Context): PresentedSession | undefined;
  write(context: Context, id: string): void;
  clear(context: Context): void;
}

export function createSessionCookie(managementUrl: string | undefined): SessionCookie {
  const url = managementUrl === undefined ? undefined : new URL(managementUrl);
  // Browsers refuse a `__Host-` cookie that was set over plain HTTP or by a sibling domain (RFC 6265bis).
  const isSecure = (context: Context) => url?.protocol === 'https:' && context.headers.host === url.host;
  const getName = (context: Context) =>
    isSecure(context) ? '__Host-hookmill_session' : `hookmill_session_${getPort(context)}`;
  const set = (context: Context, value: string, maxAgeSeconds: number) => {
    const flags = `Path=/; HttpOnly; SameSite=Strict${isSecure(context) ? '; Secure' : ''}`;
    context.append('Set-Cookie', `${getName(context)}=${value}; Max-Age=${maxAgeSeconds}; ${flags}`);
  };
  return {
    read: context => {
      const id = context.cookies.get(getName(context), { signed: false });
      const key = context.get(sessionKeyHeader);
      return id === undefined || key === '' ? undefined : { id, key, host: context.headers.host ?? '' };
    },
    write: (context, id) => set(context, id, sessionMs / 1000),
    clear: context => set(context, '', 0),
  };
}

/** The port that the browser uses, which may be that of a proxy or a tunnel. */
function getPort({ headers }: Context): string {
  return /:(\d{1,5})$/.exec(headers.host ?? '')?.[1] ?? '80';
}
