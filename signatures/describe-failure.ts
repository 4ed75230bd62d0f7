import type { VerificationFailure } from './verify.ts';

/** Describes a failed verification to the webhook's owner, without looking for its cause. */
export function describeFailure(reason: VerificationFailure): string {
  switch (reason.code) {
    case 'secret-unusable':
      return 'the signature scheme cannot use this secret';
    case 'header-missing':
      return `the header ${reason.header} is missing: the sender does not sign, or has no secret configured`;
    case 'header-repeated':
      return `the header ${reason.header} was sent more than once`;
    case 'signature-malformed':
      return "the signature header does not have the scheme's format";
    case 'signatures-too-many':
      return 'the signature header has too many items';
    case 'signature-mismatch':
      return 'the signature does not match: wrong secret, or the body was modified in transit';
    case 'content-missing':
      return 'the signature does not cover the required headers, or a header that it covers is missing';
    case 'timestamp-missing':
      return 'the signature has no timestamp';
    case 'timestamp-malformed':
      return "the timestamp does not have the scheme's format";
    case 'timestamp-too-old':
      return `the timestamp is ${reason.seconds} s old: a replay, a late retry or a wrong clock`;
    case 'timestamp-ahead':
      return `the timestamp is ${reason.seconds} s in the future: check both clocks`;
  }
}
