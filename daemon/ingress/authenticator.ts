import { hash, timingSafeEqual } from 'node:crypto';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { SchemeReference } from '../../schema/definitions/webhook-definition.ts';
import { explainFailure } from '../../signatures/explain-failure.ts';
import { answerHandshake, type HandshakeAnswer, hasGetHandshake } from '../../signatures/handshake.ts';
import { describeScheme, findScheme } from '../../signatures/schemes.ts';
import type { SignedRequest } from '../../signatures/signed-request.ts';
import { compileVerifier } from '../../signatures/verify.ts';

export type Authentication =
  | { readonly ok: true; readonly deliveryId?: string }
  /** `explain` tells the webhook's owner why, at some cost: never the sender, and only while failures are logged. */
  | { readonly ok: false; readonly explain: () => string };

/** What a token is presented in. */
export interface PresentedToken {
  /** `Authorization` as it came. */
  readonly authorization: string | undefined;
  /** The path segment after the UID. */
  readonly urlToken: string | undefined;
}

/** How a webhook's senders prove themselves: before the body is read, or over the body. */
export type Authenticator =
  | { readonly over: 'token'; readonly verify: (presented: PresentedToken) => Authentication }
  | {
      readonly over: 'body';
      readonly verify: (request: SignedRequest, nowMs: number) => Authentication;
      /** What the provider wants to hear before it delivers; undefined for any other request. */
      readonly answerHandshake: (request: SignedRequest, verified: boolean) => HandshakeAnswer | undefined;
      /** The provider asks with GET. */
      readonly hasGetHandshake: boolean;
    };

/**
 * The authenticator of a webhook under the credential in force. `openCredential` opens a sealed one. A credential
 * that is unset, or not of the kind that the mode needs, verifies nobody. Fails for a scheme that is not known.
 */
export async function authenticatorFor(
  webhook: AppliedWebhook,
  openCredential: (jwe: string) => Promise<string>,
): Promise<Authenticator> {
  const { authMode, credential, signatureScheme } = webhook;
  if (authMode === 'signature') {
    const secret = credential.kind === 'sealed' ? await openCredential(credential.jwe) : '';
    return signatureAuthenticator(signatureScheme, secret);
  }
  if (credential.kind !== 'digest') return { over: 'token', verify: () => secretNotSet };
  const digest = Buffer.from(credential.sha256, 'hex');
  const presented = authMode === 'token' ? bearerToken : urlToken;
  const missing: Authentication = {
    ok: false,
    explain: () =>
      authMode === 'token' ? 'no bearer token in the Authorization header' : 'no token in the URL',
  };
  return {
    over: 'token',
    verify: request => {
      const token = presented(request);
      if (!token) return missing;
      return timingSafeEqual(hash('sha256', token, 'buffer'), digest) ? authentic : wrongToken;
    },
  };
}

const authentic: Authentication = { ok: true };
const wrongToken: Authentication = { ok: false, explain: () => 'the token is not the one in force' };
const secretNotSet: Authentication = {
  ok: false,
  explain: () => 'the team secret had no value when the webhook was last applied; set it and apply again',
};

function signatureAuthenticator(reference: SchemeReference | undefined, secret: string): Authenticator {
  const description = reference && describeScheme(reference);
  if (!description) throw new Error(`no signature scheme is called ${String(reference)}`);
  const scheme = (typeof reference === 'string' && findScheme(reference)) || {};
  const verify = compileVerifier(description, secret);
  return {
    over: 'body',
    verify: (request, nowMs) => {
      if (secret === '') return secretNotSet;
      const verification = verify(request, nowMs);
      if (verification.ok) return verification;
      return { ok: false, explain: () => explainFailure(description, secret, request, nowMs) };
    },
    answerHandshake: (request, verified) => answerHandshake(scheme, request, secret, verified),
    hasGetHandshake: hasGetHandshake(scheme),
  };
}

// RFC 9110 section 11.1: the scheme's name is case-insensitive.
const bearer = /^bearer +(.+)$/i;

/** The bytes as they were sent: node reads header values as Latin-1. */
function bearerToken({ authorization }: PresentedToken): Buffer | undefined {
  const token = authorization && bearer.exec(authorization)?.[1];
  return token ? Buffer.from(token, 'latin1') : undefined;
}

function urlToken({ urlToken }: PresentedToken): Buffer | undefined {
  return urlToken ? Buffer.from(urlToken) : undefined;
}
