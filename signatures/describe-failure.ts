import type { Explanation } from './explanation.ts';
import type { VerificationFailure } from './verify.ts';

const otherScheme =
  'Check that `signatureScheme` is what the sender uses: `hookmill schemes show` says how each signs';

/** Describes a failed verification to the webhook's owner, without looking for its cause. */
export function describeFailure(reason: VerificationFailure): Explanation {
  switch (reason.code) {
    case 'secret-unusable':
      return {
        cause: 'the signature scheme cannot use this secret',
        remedy: 'Store the secret as the sender shows it: `hookmill schemes show` says where',
      };
    case 'header-missing':
      return {
        cause: `the header ${reason.header} is missing: the sender does not sign, or has no secret configured`,
        remedy: 'Configure the value of the team secret as signing secret at the sender',
      };
    case 'header-repeated':
      return {
        cause: `the header ${reason.header} was sent more than once`,
        remedy: `Let the sender, or the proxy between, send ${reason.header} once`,
      };
    case 'signature-malformed':
      return { cause: "the signature header does not have the scheme's format", remedy: otherScheme };
    case 'signatures-too-many':
      return {
        cause: 'the signature header has too many items',
        remedy: 'Remove the signing secrets at the sender that are no longer used',
      };
    case 'signature-mismatch':
      return {
        cause: 'the signature does not match: wrong secret, or the body was modified in transit',
        remedy:
          'Set the team secret and the signing secret at the sender to the same value; if they are, find the proxy that changes the body',
      };
    case 'content-missing':
      return {
        cause: 'the signature does not cover the required headers, or a header that it covers is missing',
        remedy: 'Let the signature cover them at the sender, and let no proxy remove a header that it covers',
      };
    case 'timestamp-missing':
      return { cause: 'the signature has no timestamp', remedy: otherScheme };
    case 'timestamp-malformed':
      return { cause: "the timestamp does not have the scheme's format", remedy: otherScheme };
    case 'timestamp-too-old':
      return {
        cause: `the timestamp is ${reason.seconds} s old: a replay, a late retry or a wrong clock`,
        remedy:
          'Let the sender send the event again with a new timestamp; if it comes late again, correct the clocks',
      };
    case 'timestamp-ahead':
      return {
        cause: `the timestamp is ${reason.seconds} s in the future: check both clocks`,
        remedy: 'Correct the clock of the sender or of this machine',
      };
  }
}
