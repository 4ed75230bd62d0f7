import type { Context, Middleware } from 'koa';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { sessionMs } from './sessions.ts';

/**
 * A page of another site can make a browser call this port under a name of its own that it points here (DNS
 * rebinding). An address, `localhost` and the host of `managementUrl` cannot be pointed elsewhere by others.
 */
export function refuseForeignHosts(managementUrl: string | undefined): Middleware {
  const ownHost = managementUrl === undefined ? undefined : new URL(managementUrl).host;
  return (context, next) => {
    const { host } = context.headers;
    if (host === undefined || (host !== ownHost && !cannotBeRebound(host))) {
      throw new ApiProblem('host-refused', {
        detail: 'use an address or localhost, or set managementUrl to how the daemon is reached',
      });
    }
    return next();
  };
}

function cannotBeRebound(host: string): boolean {
  return /^(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(host);
}

/** What browsers are told of every answer: run no script but the dashboard's own files, and show it in no frame. */
export const browserHeaders: Middleware = (context, next) => {
  context.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  });
  return next();
};

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The session's cookie: out of reach of scripts and of other sites, and of plain connections where there are others. */
export interface SessionCookie {
  read(context: Context): string | undefined;
  write(context: Context, id: string): void;
  clear(context: Context): void;
}

export function createSessionCookie(managementUrl: string | undefined): SessionCookie {
  const url = managementUrl === undefined ? undefined : new URL(managementUrl);
  // The name's prefix makes browsers refuse such a cookie from a plain connection or a sibling domain (RFC 6265bis).
  const isSecure = (context: Context) => url?.protocol === 'https:' && context.headers.host === url.host;
  const nameFor = (context: Context) => (isSecure(context) ? '__Host-hookmill_session' : 'hookmill_session');
  const set = (context: Context, value: string, maxAgeSeconds: number) => {
    const flags = `Path=/; HttpOnly; SameSite=Strict${isSecure(context) ? '; Secure' : ''}`;
    context.append('Set-Cookie', `${nameFor(context)}=${value}; Max-Age=${maxAgeSeconds}; ${flags}`);
  };
  return {
    read: context => context.cookies.get(nameFor(context), { signed: false }),
    write: (context, id) => set(context, id, sessionMs / 1000),
    clear: context => set(context, '', 0),
  };
}
