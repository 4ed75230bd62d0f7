import { hash, timingSafeEqual } from 'node:crypto';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { listIssuerNames, resolveIssuer } from '../../schema/oidc/issuers.ts';
import { digestContent, needsContentDigest } from '../../signatures/captured-request.ts';
import { describeFailure } from '../../signatures/describe-failure.ts';
import type { SignatureDescription, SignatureScheme } from '../../signatures/description.ts';
import { explainFailure } from '../../signatures/explain-failure.ts';
import { joinReason } from '../../signatures/explanation.ts';
import {
  type AgreedHandshake,
  answerHandshake,
  getHandshakeMethod,
  isSignedForAnyone,
  readHandshakeKey,
} from '../../signatures/handshake.ts';
import { describeScheme, findScheme } from '../../signatures/schemes.ts';
import type { SignedRequest } from '../../signatures/signed-request.ts';
import { compileVerifier } from '../../signatures/verify.ts';
import { type KnownKeys, verifyToken } from '../issuers/verify-token.ts';
import type { Authentication, Authenticator, CredentialParts, IngressRequest } from './ingress-request.ts';

type AuthenticatedWebhook = Pick<
  AppliedWebhook,
  'authMode' | 'signatureScheme' | 'deliveryIdHeader' | 'handshake'
>;

/**
 * Creates the authenticator of a webhook. `key` is the secret that signs, or the SHA-256 of the token in hex. Without
 * one, every request is unverified; `tokens` are for authMode oidc, which has none. Fails as `requireScheme` does.
 */
export function createAuthenticator(
  webhook: AuthenticatedWebhook & Partial<TokenWebhook>,
  key: string | undefined,
  tokens?: TokenDeps,
): Authenticator {
  const { authMode } = webhook;
  if (authMode === 'oidc') return createIssuerAuthenticator(webhook, tokens);
  if (authMode === 'signature') return createSignatureAuthenticator(webhook, key ?? '');
  const mode = {
    challenge: authMode === 'token' ? 'Bearer' : urlTokenChallenge,
    agreed: readHandshakeKey(webhook.handshake),
    // The URL of a handshake has the token; nothing says that a bearer token comes with it.
    asksWithToken: authMode === 'url_token',
  };
  if (key === undefined) return createTokenAuthenticator(mode, () => unsetSecret);
  const digest = Buffer.from(key, 'hex');
  const isRight = (token: Buffer) => timingSafeEqual(hash('sha256', token, 'buffer'), digest);
  return createTokenAuthenticator(
    mode,
    authMode === 'token'
      ? ({ headers }) => {
          const token = parseBearerToken(headers.authorization);
          if (!token) return noBearerToken;
          return isRight(token) ? undefined : wrongToken;
        }
      : (_, { urlToken }) => {
          if (!urlToken) return 'no token in the URL';
          return isRight(Buffer.from(urlToken)) ? undefined : wrongToken;
        },
  );
}

// No registered scheme describes these credentials, but a 401 must have a challenge (RFC 9110 section 15.5.2).
const urlTokenChallenge = 'URL-Token';
const signatureChallenge = 'Signature';

const wrongToken = 'wrong token';
const noBearerToken = 'no bearer token in the Authorization header';
const unsetSecret = 'the team secret had no value when the webhook was last applied; set it and apply again';
const signedForAnyone =
  'the body could be a handshake that hookmill signs for anyone, so its signature proves nothing';

interface TokenMode {
  readonly challenge: string;
  readonly agreed: AgreedHandshake;
  /** The token of deliveries comes with a handshake, too. */
  readonly asksWithToken: boolean;
}

/** `findFailure` returns undefined if the token is right, otherwise what is wrong. */
function createTokenAuthenticator(
  { challenge, agreed, asksWithToken }: TokenMode,
  findFailure: (request: IngressRequest, credential: CredentialParts) => string | undefined,
): Authenticator {
  return {
    coversBody: false,
    challenge,
    verify: (request, credential) => {
      const reason = findFailure(request, credential);
      if (reason === undefined) return { result: 'verified' };
      const handshake = asksWithToken
        ? undefined
        : answerHandshake(agreed, toSignedRequest(request, noBody), '', false);
      return { result: 'unverified', reason, handshake };
    },
    answerGet: () => undefined,
    handshakeMethod: getHandshakeMethod(agreed),
    answerVerified: (request, body) => answerHandshake(agreed, toSignedRequest(request, body), '', true),
  };
}

/** What verifies the tokens of issuers. */
export interface TokenDeps {
  readonly keys: KnownKeys;
  /** The public URL of the ingress, which is known only once it listens. */
  readonly baseUrl: () => string;
}

type TokenWebhook = Pick<AppliedWebhook, 'uid' | 'issuer' | 'audience' | 'claims'>;

/** A token is a credential that its holder can use again until it expires: it identifies no delivery. */
function createIssuerAuthenticator(
  {
    uid,
    issuer,
    audience,
    claims,
    handshake,
  }: Partial<TokenWebhook> & Pick<AuthenticatedWebhook, 'handshake'>,
  tokens: TokenDeps | undefined,
): Authenticator {
  if (!tokens || uid === undefined || issuer === undefined || !claims)
    throw new Error('authMode oidc needs an issuer, claims and the keys of issuers');
  const { keys, baseUrl } = tokens;
  const agreed = readHandshakeKey(handshake);
  const refuse = (request: IngressRequest, reason: string): Authentication => {
    // As with a bearer token, nothing says that a handshake comes with one.
    const answer = answerHandshake(agreed, toSignedRequest(request, noBody), '', false);
    return { result: 'unverified', reason, handshake: answer };
  };
  const own = { issuer: resolveIssuer(issuer), issuers: listIssuerNames(issuer), claims };
  return {
    coversBody: false,
    challenge: 'Bearer',
    verify: async (request, _, nowMs) => {
      const token = parseBearerToken(request.headers.authorization)?.toString('latin1');
      if (token === undefined) return refuse(request, noBearerToken);
      const url = () => renderIngressUrl(baseUrl(), { uid, authMode: 'oidc' });
      const verified = await verifyToken(token, { ...own, audience: audience ?? url() }, keys, nowMs);
      if (verified.result === 'refused') return refuse(request, joinReason(verified.explanation));
      return verified.result === 'verified' ? { result: 'verified' } : verified;
    },
    answerGet: () => undefined,
    handshakeMethod: getHandshakeMethod(agreed),
    answerVerified: (request, body) => answerHandshake(agreed, toSignedRequest(request, body), '', true),
  };
}

/** The description of a signature webhook's scheme. Fails if the scheme is unknown. */
export function requireScheme({ signatureScheme }: AuthenticatedWebhook): SignatureDescription {
  const description = signatureScheme && describeScheme(signatureScheme);
  if (!description) throw new Error(`unknown signature scheme: ${String(signatureScheme)}`);
  return description;
}

function createSignatureAuthenticator(webhook: AuthenticatedWebhook, secret: string): Authenticator {
  const description = requireScheme(webhook);
  const { signatureScheme: reference, deliveryIdHeader } = webhook;
  const scheme: Pick<SignatureScheme, 'handshake'> =
    (typeof reference === 'string' && findScheme(reference)) || {};
  const verifySignature = compileVerifier(description, secret);
  const digests = needsContentDigest(description, deliveryIdHeader);
  return {
    // A handshake may be in the body.
    coversBody: description.primitive !== 'shared-secret' || scheme.handshake !== undefined,
    challenge: signatureChallenge,
    verify: (request, { body }, atMs) => {
      const signed = toSignedRequest(request, body);
      const verification = secret === '' ? undefined : verifySignature(signed, atMs);
      const isProof = verification?.ok === true && !isSignedForAnyone(scheme, verification.content);
      const handshake = answerHandshake(scheme, signed, secret, isProof);
      if (isProof) {
        const { deliveryId: schemeDeliveryId, content } = verification;
        const contentDigest = digests ? digestContent(content) : undefined;
        return { result: 'verified', schemeDeliveryId, contentDigest, handshake };
      }
      if (!verification) return { result: 'unverified', reason: unsetSecret, handshake };
      if (verification.ok) return { result: 'unverified', reason: signedForAnyone, handshake };
      const { reason } = verification;
      const explain = () => joinReason(explainFailure(description, secret, signed, reason));
      return { result: 'unverified', reason: joinReason(describeFailure(reason)), explain, handshake };
    },
    answerGet: request => answerHandshake(scheme, toSignedRequest(request, noBody), secret, false),
  };
}

const noBody = Buffer.alloc(0);

function toSignedRequest(request: IngressRequest, body: Buffer): SignedRequest {
  const { distinctHeaders: headers, method, url } = request;
  return { headers, body, method, url };
}

// RFC 9110 section 11.1: the scheme's name is case-insensitive.
const bearer = /^bearer +(.+)$/i;

/** The token's bytes as they were sent: node reads header values as Latin-1. */
function parseBearerToken(authorization: string | undefined): Buffer | undefined {
  const token = authorization && bearer.exec(authorization)?.[1];
  return token ? Buffer.from(token, 'latin1') : undefined;
}
