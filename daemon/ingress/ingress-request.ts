import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHeaders } from '../../signatures/signed-request.ts';

/** A request to the ingress; the body stays in the socket until something asks for it. */
export interface IngressRequest {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The public URL as the sender addressed it. */
  readonly url: string;
  readonly clientAddress: string;
  readonly headers: IncomingHttpHeaders;
  readonly distinctHeaders: RequestHeaders;
  readonly contentLength: number | undefined;
  readBody(): Promise<BodyRead>;
}

export type BodyRead = { readonly ok: true; readonly body: Buffer } | UnreadBody;

export type UnreadBody =
  | { readonly ok: false; readonly problem: 'too-large'; readonly bytesSeen: number }
  | { readonly ok: false; readonly problem: 'body-incomplete'; readonly bytesSeen: number };
