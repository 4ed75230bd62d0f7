import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { parseContentLength, readBody } from '../http/read-body.ts';
import type { UnverifiedBodies } from '../http/unverified-bodies.ts';
import type { IngressRequest } from './ingress-request.ts';

export interface RequestOptions {
  /** The public URL of the ingress; undefined to derive it from each request's Host header. */
  readonly baseUrl: string | undefined;
  readonly bodyBytesMax: number;
  readonly unverifiedBodies: UnverifiedBodies;
  readonly readClientAddress: (request: IncomingMessage) => string;
}

/** Converts Koa's request. Uses getters, so that a refused request does not compute parts that nobody reads. */
export function toIngressRequest(
  { req, res, method }: Context,
  { baseUrl, bodyBytesMax, unverifiedBodies, readClientAddress }: RequestOptions,
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
    readBody: () => {
      permitBody(req, res, bodyBytesMax);
      return readBody(req, bodyBytesMax);
    },
    async readUnverifiedBody() {
      const room = unverifiedBodies.enter(this.clientAddress);
      if (!room) return { ok: false, problem: 'too-many-uploads', bytesSeen: 0 };
      permitBody(req, res, bodyBytesMax);
      return readBody(req, bodyBytesMax, room);
    },
  };
}

/** Returns the request target without scheme and host. A client may send those (RFC 9112 section 3.2.2). */
function readOriginForm({ url = '' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

/** Sends `100 Continue` to a client that waits for it before it sends the body. */
function permitBody(req: IncomingMessage, res: ServerResponse, limit: number): void {
  const isTooLong = (parseContentLength(req) ?? 0) > limit;
  if (!isTooLong && req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
}
