import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import getRawBody from 'raw-body';
import type { BodyRead, IngressRequest } from './ingress-request.ts';

export interface RequestOptions {
  /** The public URL of the ingress; undefined to derive it from each request's Host header. */
  readonly baseUrl: string | undefined;
  readonly bodyBytesMax: number;
  readonly readClientAddress: (request: IncomingMessage) => string;
}

/** Converts Koa's request. Uses getters, so that a refused request does not compute parts that nobody reads. */
export function toIngressRequest(
  { req, res, method }: Context,
  { baseUrl, bodyBytesMax, readClientAddress }: RequestOptions,
): IngressRequest {
  let clientAddress: string | undefined;
  return {
    method,
    // Koa's own getter fails on some targets.
    get path() {
      return readOriginForm(req).split('?', 1)[0] ?? '';
    },
    headers: req.headers,
    get contentLength() {
      return parseContentLength(req);
    },
    get url() {
      return `${baseUrl ?? `http://${req.headers.host}`}${readOriginForm(req)}`;
    },
    get clientAddress() {
      clientAddress ??= readClientAddress(req);
      return clientAddress;
    },
    get distinctHeaders() {
      return req.headersDistinct;
    },
    readBody: () => readBody(req, res, bodyBytesMax),
  };
}

/** Parses Content-Length. A length too large for a number is capped: it exceeds every limit anyway. */
export function parseContentLength({ headers }: IncomingMessage): number | undefined {
  const value = headers['content-length'];
  return value === undefined ? undefined : Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

/** Returns the request target without scheme and host. A client may send those (RFC 9112 section 3.2.2). */
function readOriginForm({ url = '' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

/** Reads the whole body. First sends `100 Continue` to a client that waits for it. */
async function readBody(req: IncomingMessage, res: ServerResponse, limit: number): Promise<BodyRead> {
  const length = parseContentLength(req);
  if (length !== undefined && length > limit) return { ok: false, problem: 'too-large', bytesSeen: length };
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
  try {
    return { ok: true, body: await getRawBody(req, { limit, length }) };
  } catch (error) {
    const { type, received } = error as { type?: string; received?: number };
    if (type !== 'entity.too.large')
      return { ok: false, problem: 'body-incomplete', bytesSeen: received ?? 0 };
    return { ok: false, problem: 'too-large', bytesSeen: received ?? limit + 1 };
  }
}
