import type { Explanation } from '../../signatures/explanation.ts';
import { type ClaimFilter, explainClaims, showClaim, type TokenClaims } from './claims.ts';

/** @limit Difference of clocks that is tolerated in the times of a token, in seconds: issuers and daemons keep time by NTP. */
export const clockSkewSeconds = 60;

/** What a token must say to be accepted. */
export interface TokenRequirements {
  /** The allowed values of `iss`. */
  readonly issuers: readonly string[];
  readonly audience: string;
  readonly claims: ClaimFilter;
}

/**
 * Judges the claims of a token whose signature was verified (RFC 7519, section 4.1; RFC 8725, sections 3.8 and 3.9); undefined
 * if they are as required. Explains with values of the token, which may only be shown because the issuer has signed them.
 */
export function judgeToken(
  token: TokenClaims,
  required: TokenRequirements,
  nowMs: number,
): Explanation | undefined {
  const issuer = getOwn(token, 'iss');
  if (!required.issuers.includes(issuer as string)) {
    const cause = `the token's issuer is ${showClaim(issuer)}, not ${required.issuers[0]}`;
    return { cause, remedy: 'Set `issuer` to exactly the claim iss of the tokens' };
  }
  const audience = getOwn(token, 'aud');
  if (![audience].flat().includes(required.audience)) {
    return {
      cause: `the token's audience is ${showClaim(audience)}, not ${required.audience}`,
      remedy: `Let the sender ask for a token with the audience ${required.audience}, or set \`audience\``,
    };
  }
  const times = judgeTimes(token, nowMs / 1_000);
  if (times) return times;
  const mismatch = explainClaims(required.claims, token);
  if (mismatch === undefined) return undefined;
  return {
    cause: mismatch,
    remedy: 'If this caller may send, change `claims`; otherwise, find out who it is',
  };
}

function judgeTimes(token: TokenClaims, now: number): Explanation | undefined {
  const expires = getOwn(token, 'exp');
  if (typeof expires !== 'number') {
    return {
      cause: 'the token has no time at which it expires (claim exp)',
      remedy: 'Let the sender use an issuer whose tokens expire',
    };
  }
  if (expires + clockSkewSeconds <= now) {
    const remedy =
      'Let the sender get a new token for each delivery; if it does, correct the clock of this machine';
    return { cause: `the token expired ${showDuration(now - expires)} ago`, remedy };
  }
  for (const [name, begins] of [
    ['nbf', 'is valid only'],
    ['iat', 'was issued'],
  ] as const) {
    const time = getOwn(token, name);
    if (time === undefined) continue;
    const isTime = typeof time === 'number';
    if (isTime && time <= now + clockSkewSeconds) continue;
    const cause = isTime ? `${begins} ${showDuration(time - now)} from now` : `has an invalid time (${name})`;
    return { cause: `the token ${cause}`, remedy: 'Correct the clock of the issuer or of this machine' };
  }
  return undefined;
}

function showDuration(seconds: number): string {
  for (const [unit, name] of [
    [86_400, 'days'],
    [3_600, 'hours'],
    [60, 'minutes'],
  ] as const) {
    if (seconds >= 2 * unit) return `${Math.floor(seconds / unit)} ${name}`;
  }
  return `${Math.floor(seconds)} s`;
}

/** Reads only own claims. */
function getOwn(token: TokenClaims, name: string): unknown {
  return Object.hasOwn(token, name) ? token[name] : undefined;
}
