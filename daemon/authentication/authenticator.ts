import { hash, timingSafeEqual } from 'node:crypto';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { readHeaderValue } from '../../schema/header-value.ts';
import { type OwnBaseUrl, renderIngressUrl } from '../../schema/ingress-url.ts';
import { listIssuerNames, resolveIssuer } from '../../schema/oidc/issuers.ts';
import { type FollowedWait, followWait } from '../../schema/stored-times.ts';
import { findTokenPlace, type TokenKeys } from '../../schema/token-place.ts';
import { digestContent, needsContentDigest } from '../../signatures/captured-request.ts';
import { describeFailure } from '../../signatures/describe-failure.ts';
import type { SignatureDescription, SignatureScheme } from '../../signatures/description.ts';
import { explainFailure } from '../../signatures/explain-failure.ts';
import { type Explanation, joinReason } from '../../signatures/explanation.ts';
import {
  answerHandshake,
  getHandshakeMethod,
  type HandshakeAnswer,
  isSignedForAnyone,
  readHandshakeKey,
} from '../../signatures/handshake.ts';
import { describeScheme, findScheme } from '../../signatures/schemes.ts';
import type { SignedRequest } from '../../signatures/signed-request.ts';
import { compileVerifier, type Verification } from '../../signatures/verify.ts';
import { type KnownKeys, verifyToken } from '../issuers/verify-token.ts';
import type {
  Authentication,
  Authenticator,
  CredentialParts,
  IngressRequest,
  PreviousKey,
} from './ingress-request.ts';

interface AuthenticatedWebhook
  extends TokenKeys,
    Pick<AppliedWebhook, 'authMode' | 'signatureScheme' | 'deliveryIdHeader' | 'handshake'> {
  readonly previous?: PreviousKey | undefined;
}

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
  const { challenge, missing, read } = compileTokenReader(webhook);
  const mode = { challenge, handshake: createTokenHandshake(webhook) };
  if (key === undefined) return createTokenAuthenticator(mode, () => unsetSecret);
  const judge = compileTokenJudge(key, webhook.previous);
  return createTokenAuthenticator(mode, (request, credential, nowMs) => {
    const token = read(request, credential);
    return token?.length ? judge(token, nowMs) : missing;
  });
}

/** Reads the token's bytes as they were sent. */
interface TokenReader {
  readonly challenge: string;
  /** The reason why a request without a token is refused. */
  readonly missing: string;
  readonly read: (request: IngressRequest, credential: CredentialParts) => Buffer | undefined;
}

function compileTokenReader(webhook: AuthenticatedWebhook): TokenReader {
  const { authMode, tokenScheme, tokenUser, tokenHeader } = webhook;
  if (authMode === 'url_token') {
    const read: TokenReader['read'] = (_, { urlToken }) => Buffer.from(urlToken ?? '');
    return { challenge: urlTokenChallenge, missing: 'no token in the URL', read };
  }
  if (tokenScheme === 'basic') {
    const missing = `no password of the user "${tokenUser}" in the Authorization header (HTTP Basic)`;
    const challenge = 'Basic realm="hookmill"';
    return {
      challenge,
      missing,
      read: ({ headers }) => parsePassword(headers.authorization, `${tokenUser}:`),
    };
  }
  if (tokenHeader == null) {
    const read: TokenReader['read'] = ({ headers }) => parseBearerToken(headers.authorization);
    return { challenge: 'Bearer', missing: noBearerToken, read };
  }
  const { header, prefix } = findTokenPlace(webhook);
  const name = header.toLowerCase();
  return {
    challenge: headerTokenChallenge,
    missing: `no token in the header ${header}${prefix === '' ? '' : ` after "${prefix}"`}`,
    read: ({ headers }) => {
      const value = readHeaderValue(headers, name);
      return value?.startsWith(prefix) ? Buffer.from(value.slice(prefix.length), 'latin1') : undefined;
    },
  };
}

/** Whether a token is right, or what is wrong with it. */
type TokenVerdict = { readonly verifiedWith?: 'previous' } | string;

const rightToken: TokenVerdict = {};
const previousToken: TokenVerdict = { verifiedWith: 'previous' };

/** `key` is the SHA-256 of the token in hex, as is the previous one. */
function compileTokenJudge(
  key: string,
  previous: PreviousKey | undefined,
): (token: Buffer, nowMs: number) => TokenVerdict {
  const current = Buffer.from(key, 'hex');
  const digest = (token: Buffer) => hash('sha256', token, 'buffer');
  if (!previous) return token => (timingSafeEqual(digest(token), current) ? rightToken : wrongToken);
  const before = Buffer.from(previous.key, 'hex');
  const overlap = followWait(previous);
  return (token, nowMs) => {
    const given = digest(token);
    // Compares with both in any case, so that the time does not tell which one it is.
    const [isCurrent, isPrevious] = [timingSafeEqual(given, current), timingSafeEqual(given, before)];
    if (isCurrent) return rightToken;
    if (!isPrevious) return wrongToken;
    return overlap.isRunning(nowMs)
      ? previousToken
      : joinReason(explainEnded('sent with the previous token', overlap));
  };
}

/** Explains a request that the previous value of the secret would verify, if its overlap had not ended. */
function explainEnded(how: string, { untilMs }: FollowedWait): Explanation {
  const cause = `${how}, whose overlap ended at ${new Date(untilMs()).toISOString()}`;
  return { cause, remedy: 'Set the sender to use the current value of the team secret' };
}

// No registered scheme describes these credentials, but a 401 must have a challenge (RFC 9110 section 15.5.2).
const urlTokenChallenge = 'URL-Token';
const headerTokenChallenge = 'Header-Token';
const signatureChallenge = 'Signature';

const wrongToken = 'wrong token';
const noBearerToken = 'no bearer token in the Authorization header';
const unsetSecret = 'the team secret had no value when the webhook was last applied; set it and apply again';
const signedForAnyone =
  'the body could be a handshake that hookmill signs for anyone, so its signature proves nothing';

/** The handshake that a definition names. */
interface TokenHandshake {
  /** Answers a handshake without the token of deliveries. */
  readonly answerStranger: (request: IngressRequest) => HandshakeAnswer | undefined;
  /** What the authenticator has for a handshake with the token. */
  readonly parts: Pick<Authenticator, 'handshakeMethod' | 'answerVerified'>;
}

const noHandshake: TokenHandshake = { answerStranger: () => undefined, parts: {} };

function createTokenHandshake({
  authMode,
  handshake,
}: Pick<AuthenticatedWebhook, 'authMode' | 'handshake'>): TokenHandshake {
  const agreed = readHandshakeKey(handshake);
  if (!agreed.handshake) return noHandshake;
  const answer = (request: IngressRequest, body: Buffer, verified: boolean) =>
    answerHandshake(agreed, toSignedRequest(request, body), '', verified);
  return {
    // The URL of a handshake has the token; nothing says that a bearer token comes with it.
    answerStranger: request => (authMode === 'url_token' ? undefined : answer(request, noBody, false)),
    parts: {
      handshakeMethod: getHandshakeMethod(agreed),
      answerVerified: (request, body) => answer(request, body, true),
    },
  };
}

interface TokenMode {
  readonly challenge: string;
  readonly handshake: TokenHandshake;
}

function createTokenAuthenticator(
  { challenge, handshake }: TokenMode,
  judge: (request: IngressRequest, credential: CredentialParts, nowMs: number) => TokenVerdict,
): Authenticator {
  return {
    coversBody: false,
    challenge,
    verify: (request, credential, nowMs) => {
      const verdict = judge(request, credential, nowMs);
      if (typeof verdict === 'object') return { result: 'verified', ...verdict };
      return { result: 'unverified', reason: verdict, handshake: handshake.answerStranger(request) };
    },
    answerGet: () => undefined,
    ...handshake.parts,
  };
}

/** The keys that verify tokens of issuers, and the URL that is the default audience. */
export interface TokenDeps {
  readonly keys: KnownKeys;
  /** The public URL of the ingress, which is known only once it listens. */
  readonly baseUrl: () => OwnBaseUrl;
}

type TokenWebhook = Pick<AppliedWebhook, 'uid' | 'issuer' | 'audience' | 'claims'>;

/** A token is a credential that its holder can use again until it expires: it identifies no delivery. */
function createIssuerAuthenticator(
  { uid, issuer, audience, claims, ...webhook }: AuthenticatedWebhook & Partial<TokenWebhook>,
  tokens: TokenDeps | undefined,
): Authenticator {
  if (!tokens || uid === undefined || issuer === undefined || !claims)
    throw new Error('authMode oidc needs an issuer, claims and the keys of issuers');
  const { keys, baseUrl } = tokens;
  const handshake = createTokenHandshake(webhook);
  const refuse = (request: IngressRequest, reason: string): Authentication => {
    return { result: 'unverified', reason, handshake: handshake.answerStranger(request) };
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
    ...handshake.parts,
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
  const { signatureScheme: reference, deliveryIdHeader, previous } = webhook;
  const scheme: Pick<SignatureScheme, 'handshake'> = findScheme(reference) ?? {};
  const verifySignature = compileVerifier(description, secret);
  const verifyPrevious = previous && compileVerifier(description, previous.key);
  const overlap = previous && followWait(previous);
  const isProof = (verification: Verification | undefined) =>
    verification?.ok === true && !isSignedForAnyone(scheme, verification.content);
  const digests = needsContentDigest(description, deliveryIdHeader);
  return {
    // A handshake may be in the body.
    coversBody: description.primitive !== 'shared-secret' || scheme.handshake !== undefined,
    challenge: signatureChallenge,
    verify: (request, { body }, atMs) => {
      const signed = toSignedRequest(request, body);
      const verification = secret === '' ? undefined : verifySignature(signed, atMs);
      const isCurrent = isProof(verification);
      // Only if the current secret does not match: each secret needs a hash of the body.
      const isInOverlap = !isCurrent && overlap?.isRunning(atMs) === true;
      const proof = isInOverlap ? verifyPrevious?.(signed, atMs) : verification;
      const handshake = answerHandshake(scheme, signed, secret, isProof(proof));
      if (proof?.ok && isProof(proof)) {
        const { deliveryId: schemeDeliveryId, content } = proof;
        const contentDigest = digests ? digestContent(content) : undefined;
        const verifiedWith = isCurrent ? undefined : 'previous';
        return { result: 'verified', schemeDeliveryId, contentDigest, verifiedWith, handshake };
      }
      if (!verification) return { result: 'unverified', reason: unsetSecret, handshake };
      if (verification.ok) return { result: 'unverified', reason: signedForAnyone, handshake };
      const { reason } = verification;
      const explain = () => {
        if (overlap && !isInOverlap && isProof(verifyPrevious?.(signed, atMs)))
          return joinReason(explainEnded('signed with the previous secret', overlap));
        return joinReason(explainFailure(description, secret, signed, reason));
      };
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
const basic = /^basic +(.+)$/i;

/** The token's bytes as they were sent: node reads header values as Latin-1. */
function parseBearerToken(authorization: string | undefined): Buffer | undefined {
  const token = authorization && bearer.exec(authorization)?.[1];
  return token ? Buffer.from(token, 'latin1') : undefined;
}

/** RFC 7617: the user, which is in no secret, a colon and the password are base64. */
function parsePassword(authorization: string | undefined, start: string): Buffer | undefined {
  const encoded = authorization && basic.exec(authorization)?.[1];
  if (!encoded) return undefined;
  const given = Buffer.from(encoded, 'base64');
  return given.subarray(0, start.length).equals(Buffer.from(start))
    ? given.subarray(start.length)
    : undefined;
}
