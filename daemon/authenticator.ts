import { hash, timingSafeEqual } from 'node:crypto';
import type { AppliedWebhook } from '../schema/applied-state.ts';
import { describeScheme } from '../schema/signature/scheme.ts';
import { compileVerifier, type SignedRequest } from '../schema/signature/verify.ts';

export type Authentication =
  | { readonly ok: true; readonly deliveryId?: string }
  | { readonly ok: false; readonly reason: string };

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
  | { readonly over: 'body'; readonly verify: (request: SignedRequest, nowMs: number) => Authentication };

/**
 * The authenticator of a webhook under the credential in force. `openCredential` opens a sealed one. A credential
 * that is unset, or not of the kind that the mode needs, verifies nobody.
 */
export async function authenticatorFor(
  webhook: AppliedWebhook,
  openCredential: (jwe: string) => Promise<string>,
): Promise<Authenticator> {
  const { authMode, credential, signatureScheme } = webhook;
  if (authMode === 'signature') {
    const description = signatureScheme && describeScheme(signatureScheme);
    if (!description || credential.kind !== 'sealed') return { over: 'body', verify: () => secretNotSet };
    const verify = compileVerifier(description, await openCredential(credential.jwe));
    return {
      over: 'body',
      verify: (request, nowMs) => {
        const verification = verify(request, nowMs);
        return verification.ok ? verification : { ok: false, reason: JSON.stringify(verification.reason) };
      },
    };
  }
  if (credential.kind !== 'digest') return { over: 'token', verify: () => secretNotSet };
  const digest = Buffer.from(credential.sha256, 'hex');
  const presented = authMode === 'token' ? bearerToken : urlToken;
  const missing: Authentication = {
    ok: false,
    reason: authMode === 'token' ? 'no bearer token in the Authorization header' : 'no token in the URL',
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
const wrongToken: Authentication = { ok: false, reason: 'the token is not the one in force' };
const secretNotSet: Authentication = {
  ok: false,
  reason: 'the team secret had no value when the webhook was last applied; set it and apply again',
};

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
