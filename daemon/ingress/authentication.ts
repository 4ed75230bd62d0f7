import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { IngressRequest, UnreadBody } from './ingress-request.ts';

/** Verifies the senders of one webhook. */
export interface Authenticator {
  /**
   * Checks the credential and reads the body, in the cheapest order: it checks a token in the headers or the URL before
   * it reads the body, and a signature over the body afterwards.
   */
  verify(request: IngressRequest, urlToken: string | undefined, nowMs: () => number): Promise<Authentication>;
  /** Answers a provider that asks with GET before it delivers; undefined for any other request. */
  answerGet(request: IngressRequest): HandshakeAnswer | undefined;
}

/** The result of `verify`. It has a `handshake` if the request is not a delivery but the provider's test of the URL. */
export type Authentication =
  | {
      readonly result: 'verified';
      readonly body: Buffer;
      readonly schemeDeliveryId?: string | undefined;
      readonly handshake?: HandshakeAnswer | undefined;
    }
  | {
      readonly result: 'unverified';
      /** Bytes of the body, or 0 if they are not known. */
      readonly size: number;
      /** Explains the failure to the webhook's owner; it costs time. The sender must never see the text. */
      readonly explain: () => string;
      readonly handshake?: HandshakeAnswer | undefined;
    }
  /** The body could not be read completely. `verified` says whether the credential was verified before that. */
  | { readonly result: 'unread'; readonly verified: boolean; readonly read: UnreadBody };
