import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { IngressRequest, UnreadBody } from './ingress-request.ts';

/** Verifies the senders of one webhook. */
export interface Authenticator {
  /**
   * Checks the credential and reads the body, in the order that costs least: a credential in the headers or the URL is
   * checked before the body is read, a signature over the body after it.
   */
  verify(request: IngressRequest, urlToken: string | undefined, nowMs: () => number): Promise<Authentication>;
  /** Answers a provider that asks with GET before it delivers; undefined for any other request. */
  answerGet(request: IngressRequest): HandshakeAnswer | undefined;
}

/** A `handshake` is the answer to a request that is a provider's question instead of a delivery. */
export type Authentication =
  | {
      readonly result: 'verified';
      readonly body: Buffer;
      readonly schemeDeliveryId?: string | undefined;
      readonly handshake?: HandshakeAnswer | undefined;
    }
  | {
      readonly result: 'unverified';
      /** Bytes of the body, as far as they are known. */
      readonly size: number;
      /** Explains the failure to the webhook's owner, at some cost. The sender must never see it. */
      readonly explain: () => string;
      readonly handshake?: HandshakeAnswer | undefined;
    }
  /** The whole body could not be read; `verified` if the credential had been checked by then. */
  | { readonly result: 'unread'; readonly verified: boolean; readonly read: UnreadBody };
