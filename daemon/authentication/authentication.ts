import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { IngressRequest } from './ingress-request.ts';

/** Verifies the senders of one webhook. */
export interface Authenticator {
  /** Whether the credential covers the body, which must then be read before `verify`. */
  readonly coversBody: boolean;
  /** The challenge of a 401 (RFC 9110 section 11.6.1). */
  readonly challenge: string;
  /** Checks the credential. Synchronous, so that no other attempt comes between the check of a budget and its count. */
  verify(request: IngressRequest, credential: CredentialParts, nowMs: number): Authentication;
  /** Answers a provider that asks with GET or HEAD before it delivers; undefined for any other request. */
  answerGet(request: IngressRequest): HandshakeAnswer | undefined;
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
      readonly handshake?: HandshakeAnswer | undefined;
    }
  | {
      readonly result: 'unverified';
      /** The reason, for the webhook's owner. The sender must never see this text, or the explanation. */
      readonly reason: string;
      /** Looks for the cause, and explains it instead. It costs time, so a budget decides. */
      readonly explain?: (() => string) | undefined;
      readonly handshake?: HandshakeAnswer | undefined;
    };
