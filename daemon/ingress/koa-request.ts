import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { RequestHeaders } from '../../signatures/signed-request.ts';
import type { IngressRequest } from '../authentication/ingress-request.ts';
import {
  type BodyRead,
  parseContentLength,
  permitBody,
  readBody,
  type UnverifiedBodies,
} from '../http/bodies.ts';

export interface RequestOptions {
  /** The public URL of the ingress; undefined to derive it from each request's Host header. */
  readonly baseUrl: string | undefined;
  readonly bodyBytesMax: number;
  readonly unverifiedBodies: UnverifiedBodies;
  readonly readClientAddress: (request: IncomingMessage) => string;
}

/**
 * A request that Koa received. Its getters compute nothing for a refused request that nobody reads. They belong to a
 * class, because V8 keeps an object literal with getters, and the whole request with it, until the next full collection.
 */
export class KoaRequest implements IngressRequest {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #options: RequestOptions;
  readonly trace: IngressRequest['trace'];
  #clientAddress: string | undefined;

  constructor({ req, res }: Context, options: RequestOptions, trace: IngressRequest['trace']) {
    this.#req = req;
    this.#res = res;
    this.#options = options;
    this.trace = trace;
  }

  get method(): string {
    return this.#req.method ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.#req.headers;
  }

  get distinctHeaders(): RequestHeaders {
    return this.#req.headersDistinct;
  }

  get contentLength(): number | undefined {
    return parseContentLength(this.#req);
  }

  get url(): string {
    return `${this.#options.baseUrl ?? `http://${this.headers.host}`}${readOriginForm(this.#req)}`;
  }

  get clientAddress(): string {
    this.#clientAddress ??= this.#options.readClientAddress(this.#req);
    return this.#clientAddress;
  }

  readBody(): Promise<BodyRead> {
    permitBody(this.#req, this.#res, this.#options.bodyBytesMax);
    return readBody(this.#req, this.#options.bodyBytesMax);
  }

  async readUnverifiedBody(): Promise<BodyRead> {
    const room = this.#options.unverifiedBodies.enter(this.clientAddress);
    if (!room) return { ok: false, problem: 'too-many-uploads', bytesSeen: 0 };
    permitBody(this.#req, this.#res, this.#options.bodyBytesMax);
    return readBody(this.#req, this.#options.bodyBytesMax, room);
  }
}

/** The getter of the path of a Koa request: as it was sent, without the query. */
export function readPath(this: { readonly req: IncomingMessage }): string {
  return readOriginForm(this.req).split('?', 1)[0] ?? '';
}

/** Returns the request target without scheme and host. A client may send those (RFC 9112 section 3.2.2). */
function readOriginForm({ url = '' }: IncomingMessage): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
}
