import type { IncomingHttpHeaders } from 'node:http';
import type { EventHeaders } from '../../schema/headers.ts';
import type { StoredWait } from '../../schema/stored-times.ts';
import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { RequestHeaders } from '../../signatures/signed-request.ts';
import type { BodyRead } from '../http/bodies.ts';

/** Verifies the senders of one webhook. */
export interface Authenticator {
  /** Whether the credential covers the body, which must then be read before `verify`. */
  readonly coversBody: boolean;
  /** The challenge of a 401 (RFC 9110 section 11.6.1). */
  readonly challenge: string;
  /**
   * Checks the credential. Synchronous, so that no other attempt comes between the check of a budget and its count; only
   * tokens of issuers take a promise, after which the budget must be checked again.
   */
  verify(
    request: IngressRequest,
    credential: CredentialParts,
    nowMs: number,
  ): Authentication | Promise<Authentication>;
  /** Answers a provider that asks with GET or HEAD before it delivers; undefined for any other request. */
  answerGet(request: IngressRequest): HandshakeAnswer | undefined;
  /** The method of a handshake that comes with the credential of deliveries, if it is not POST. */
  readonly handshakeMethod?: string | undefined;
  /** Answers a handshake of a verified sender, whose body was not read before; undefined for a delivery. */
  answerVerified?(request: IngressRequest, body: Buffer): HandshakeAnswer | undefined;
}

/** A previous key of a webhook. From its end on, it verifies nothing. */
export interface PreviousKey extends StoredWait {
  readonly key: string;
}

export interface CredentialParts {
  /** The path segment after the UID. */
  readonly urlToken: string | undefined;
  /** Empty unless the credential covers it. */
  readonly body: Buffer;
}

/** The result of `verify`. It has a `handshake` if the request is not a delivery but the provider's test of the URL. */
export type Authentication =
  | {
      readonly result: 'verified';
      readonly schemeDeliveryId?: string | undefined;
      /** Set if the request is unique by what its signature covers, and its identity may not be signed. */
      readonly contentDigest?: string | undefined;
      /** Set if the previous value of the secret verified it, and not the current one. */
      readonly verifiedWith?: 'previous' | undefined;
      readonly handshake?: HandshakeAnswer | undefined;
    }
  /** The sender may be right: the key that decides is missing, and may come soon. */
  | { readonly result: 'undecided'; readonly retryAfterSeconds: number }
  | {
      readonly result: 'unverified';
      /** The reason, for the webhook's owner. The sender must never see this text, or the explanation. */
      readonly reason: string;
      /** Looks for the cause, and explains it instead. It costs time, so a budget decides. */
      readonly explain?: (() => string) | undefined;
      readonly handshake?: HandshakeAnswer | undefined;
    };

/** A request to the ingress; the body stays in the socket until something asks for it. */
export interface IngressRequest {
  readonly method: string;
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
