import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Says whether a request has one Host and at most one Authorization header, and a target and Host that are parts of a
 * URL (RFC 9112 section 3.2). Nothing that parses the URL of such a request later can fail.
 */
export function isHeadValid({ rawHeaders, headers, url = '' }: IncomingMessage): boolean {
  if (isRepeated(rawHeaders, 'host') || isRepeated(rawHeaders, 'authorization')) return false;
  const { host = '' } = headers;
  if (/[\s/?#@\\,]/.test(host)) return false;
  const authority = `http://${host || 'localhost'}`;
  if (url.startsWith('/')) return URL.canParse(authority + url);
  return URL.canParse(authority) && (url === '*' || URL.canParse(url));
}

/** Answers a request whose head is not valid, and closes its connection. */
export function refuseHead(response: ServerResponse): void {
  const detail = 'The target, Host or Authorization of the request is malformed or repeated.';
  const problem = { type: 'about:blank', title: 'Bad Request', status: 400, detail };
  response.writeHead(400, { 'Content-Type': 'application/problem+json', Connection: 'close' });
  response.end(`${JSON.stringify(problem)}\n`);
}

/** Node gives names and values in turn, and drops the second of these headers from `headers` in silence. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let seen = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at];
    if (header?.length !== name.length || header.toLowerCase() !== name) continue;
    if (seen) return true;
    seen = true;
  }
  return false;
}
