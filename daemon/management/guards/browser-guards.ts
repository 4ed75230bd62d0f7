import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { ApiProblem } from '../../../schema/api/problems.ts';

/**
 * Protects against DNS rebinding, in which another site points its own host name at this port. Allows only IP
 * addresses, `localhost` and the host of `managementUrl`.
 */
export function refuseForeignHosts(managementUrl: string | undefined): Middleware {
  const ownHost = managementUrl === undefined ? undefined : new URL(managementUrl).host;
  return (context, next) => {
    const { host } = context.headers;
    if (host === undefined || (host !== ownHost && !cannotBeRebound(host))) {
      throw new ApiProblem('host-refused', {
        detail: 'use an address or localhost, or set managementUrl to the URL that you use',
      });
    }
    return next();
  };
}

/**
 * Whether a request names an address of the machine, and no proxy says that it passed the request on. Behind a proxy, the
 * host name of `managementUrl` or such a header remains of whoever asked.
 */
export function isAskedDirectly({ headers }: IncomingMessage, managementUrl: string | undefined): boolean {
  const { host = '' } = headers;
  if (Object.keys(headers).some(name => /^(forwarded|via|x-real-ip|x-forwarded-.+)$/.test(name)))
    return false;
  if (isLoopback(host)) return true;
  return cannotBeRebound(host) && (managementUrl === undefined || host !== new URL(managementUrl).host);
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

function cannotBeRebound(host: string): boolean {
  return /^(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(host);
}

/** Sets headers on every answer: browsers run only the dashboard's own scripts, and never show it in a frame. */
export const setBrowserHeaders: Middleware = (context, next) => {
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
