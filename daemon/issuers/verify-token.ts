import {
  compactVerify,
  type createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type ProtectedHeaderParameters,
} from 'jose';
import { parseJsonText } from '../../json/parse-json-text.ts';
import type { TokenClaims } from '../../schema/oidc/claims.ts';
import { judgeToken, type TokenRequirements } from '../../schema/oidc/judge-token.ts';
import type { Explanation } from '../../signatures/explanation.ts';

/** @limit Longest token, in characters: tokens of known issuers have up to 4,000. */
const tokenCharsMax = 16 * 1024;
/** @limit Wait that a 503 asks the sender for while the keys of an issuer are missing, in seconds: a fetch takes no longer. */
const keysSeconds = 10;

/** The only algorithms: no symmetric one, for which a public key would be a secret that everybody knows (RFC 8725, section 3.1). */
const algorithms = ['RS256', 'ES256', 'EdDSA', 'PS256'];
/** The types of ID tokens and of access tokens (RFC 9068); others are no credentials for this (RFC 8725, section 3.11). */
const types = ['jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Finds the key that signed a token. A key is imported when its first token comes. Rejects with an error of `jose` if the
 * issuer has no such key.
 */
export type FindKey = ReturnType<typeof createLocalJWKSet>;

/** The keys that verify tokens. */
export interface KnownKeys {
  /** The keys of an issuer that were fetched last; undefined if none ever were. */
  find(issuer: string): FindKey | undefined;
  /**
   * Called when a token needs a key that is missing. `none`: the issuer was asked in the last half minute, and has no such
   * key. `soon`: the issuer is being asked, or cannot be reached.
   */
  seekKey(issuer: string): 'soon' | 'none';
}

export type VerifiedToken =
  | { readonly result: 'verified'; readonly claims: TokenClaims }
  | { readonly result: 'refused'; readonly explanation: Explanation }
  /** The key is missing, and may come soon. */
  | { readonly result: 'undecided'; readonly retryAfterSeconds: number };

export interface TokenVerification extends TokenRequirements {
  /** The issuer whose keys verify. */
  readonly issuer: string;
}

/** Verifies a token and judges its claims. Never waits for the network, and never rejects. No explanation has the token. */
export async function verifyToken(
  token: string,
  required: TokenVerification,
  keys: KnownKeys,
  nowMs: number,
): Promise<VerifiedToken> {
  const malformed = explainHeader(token);
  if (malformed) return { result: 'refused', explanation: malformed };
  const findKey = keys.find(required.issuer);
  if (!findKey) {
    keys.seekKey(required.issuer);
    return { result: 'undecided', retryAfterSeconds: keysSeconds };
  }
  const signed = await compactVerify(token, findKey, { algorithms }).catch((error: unknown) => error);
  if (!isVerified(signed)) {
    if (signed instanceof errors.JWKSNoMatchingKey && keys.seekKey(required.issuer) === 'soon')
      return { result: 'undecided', retryAfterSeconds: keysSeconds };
    return { result: 'refused', explanation: explainSignature(signed, required.issuer) };
  }
  const claims = readClaims(signed.payload);
  if (!claims) return { result: 'refused', explanation: notJson };
  const explanation = judgeToken(claims, required, nowMs);
  return explanation ? { result: 'refused', explanation } : { result: 'verified', claims };
}

const getToken = 'Let the sender send the token as its issuer gave it, after `Authorization: Bearer`';
const notJson: Explanation = { cause: 'the content of the token is not a JSON object', remedy: getToken };

/** A JWS in compact form, without padding. A JWE has five parts. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Checks what needs no key: the form, and the parts of the header that decide. Header values are not shown: nobody has signed them yet. */
function explainHeader(token: string): Explanation | undefined {
  if (token.length > tokenCharsMax)
    return { cause: `the token has more than ${tokenCharsMax} characters`, remedy: getToken };
  const header = compactForm.test(token) ? decodeHeader(token) : undefined;
  if (!header) return { cause: 'the bearer token is not a signed token (JWT)', remedy: getToken };
  if (!algorithms.includes(header.alg as string)) {
    return {
      cause: `the token is not signed with ${algorithms.join(', ')}`,
      remedy: 'Let the issuer sign with one of these algorithms',
    };
  }
  if (header.crit !== undefined)
    return {
      cause: 'the token requires extensions (crit), which hookmill does not support',
      remedy: getToken,
    };
  const { typ } = header;
  if (typ === undefined || (typeof typ === 'string' && types.includes(typ.toLowerCase()))) return undefined;
  return { cause: 'the token is of a type that is no credential here (typ)', remedy: getToken };
}

function decodeHeader(token: string): ProtectedHeaderParameters | undefined {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

function isVerified(signed: unknown): signed is Awaited<ReturnType<typeof compactVerify>> {
  return typeof signed === 'object' && signed !== null && 'payload' in signed;
}

function explainSignature(error: unknown, issuer: string): Explanation {
  const remedy = 'Set `issuer` to the issuer of the tokens; if it is, find out who sends this';
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return { cause: `the signature is not by a key of ${issuer}`, remedy };
  if (error instanceof errors.JWKSNoMatchingKey)
    return { cause: `the token names a key that ${issuer} does not have`, remedy };
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return { cause: `the token does not say which key of ${issuer} signed it (kid)`, remedy };
  return { cause: `the signature cannot be verified with the keys of ${issuer}`, remedy };
}

function readClaims(payload: Uint8Array): TokenClaims | undefined {
  try {
    const claims = parseJsonText(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    const isObject = typeof claims === 'object' && claims !== null && !Array.isArray(claims);
    return isObject ? (claims as TokenClaims) : undefined;
  } catch {
    return undefined;
  }
}
