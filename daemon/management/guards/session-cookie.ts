import type { Context } from 'koa';
import { sessionMs } from './sessions.ts';

/** The cookie of a session. Scripts and other sites cannot read it; behind a TLS proxy it travels only over TLS. */
export interface SessionCookie {
  read(context: Context): string | undefined;
  write(context: Context, id: string): void;
  clear(context: Context): void;
}

export function createSessionCookie(managementUrl: string | undefined): SessionCookie {
  const url = managementUrl === undefined ? undefined : new URL(managementUrl);
  // Browsers refuse a `__Host-` cookie that was set over plain HTTP or by a sibling domain (RFC 6265bis).
  const isSecure = (context: Context) => url?.protocol === 'https:' && context.headers.host === url.host;
  const getName = (context: Context) => (isSecure(context) ? '__Host-hookmill_session' : 'hookmill_session');
  const set = (context: Context, value: string, maxAgeSeconds: number) => {
    const flags = `Path=/; HttpOnly; SameSite=Strict${isSecure(context) ? '; Secure' : ''}`;
    context.append('Set-Cookie', `${getName(context)}=${value}; Max-Age=${maxAgeSeconds}; ${flags}`);
  };
  return {
    read: context => context.cookies.get(getName(context), { signed: false }),
    write: (context, id) => set(context, id, sessionMs / 1000),
    clear: context => set(context, '', 0),
  };
}
