import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Says whether a request has one Host, and a target and Host that are parts of a URL (RFC 9112 section 3.2). Nothing that
 * parses the URL of such a request later can fail. The values of a repeated Host are joined with commas.
 */
export function isHeadValid({ headers, url = '' }: IncomingMessage): boolean {
  const { host = '' } = headers;
  if (/[\s/?#@\\,]/.test(host)) return false;
  const authority = `http://${host || 'localhost'}`;
  if (url.startsWith('/')) return URL.canParse(authority + url);
  return URL.canParse(authority) && (url === '*' || URL.canParse(url));
}

/** Answers a request whose head is not valid, and closes its connection. */
export function refuseHead(response: ServerResponse): void {
  const detail = 'The target or Host of the request is malformed, or Host is repeated.';
  const problem = { type: 'about:blank', title: 'Bad Request', status: 400, detail };
  response.writeHead(400, { 'Content-Type': 'application/problem+json', Connection: 'close' });
  response.end(`${JSON.stringify(problem)}\n`);
}
