import type { IncomingHttpHeaders } from 'node:http';
import type { EventHeaders } from '../../schema/event-headers.ts';
import type { RequestHeaders } from '../../signatures/signed-request.ts';
import type { BodyRead } from '../http/read-body.ts';

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
  /** Undefined unless the daemon traces. */
  readonly trace: { beginCommit(headers: EventHeaders): EventHeaders } | undefined;
  /** Reads the body of a verified sender. */
  readBody(): Promise<BodyRead>;
  /** Reads the body of a sender that is not verified yet, within the memory for such bodies. */
  readUnverifiedBody(): Promise<BodyRead>;
}
