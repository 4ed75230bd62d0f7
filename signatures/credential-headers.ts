import type { SignatureDescription } from './description.ts';

/** Lists the headers in which a scheme's sender puts a signature, or the secret itself, in lower case. */
export function listCredentialHeaders(description: SignatureDescription): readonly string[] {
  const names = [description.header];
  if ('alternatives' in description) names.push(...(description.alternatives ?? []).map(one => one.header));
  if ('older' in description && description.older) names.push(description.older.header);
  return names.map(name => name.toLowerCase());
}

// Other senders and proxies put credentials into headers with such names: with one of these words anywhere, or with a
// shorter one that stands alone.
const anywhere =
  /authori[sz]ation|authentication|bearer|client[-_]?cert|cookie|credential|csrf|hmac|jwt|passw|passphrase|secret|signature|token|verif-hash|xsrf/;
const keys = /(access|account|api|app|auth|functions|master|private|shared|signing|subscription)[-_]?key/;
const alone = /(^|[-_])(auth|otp|pin|session([-_]?id)?|sig|sign)$/;

/** Whether the name of a header, in lower case, says that it carries a credential or a signature. */
export function isCredentialName(name: string): boolean {
  return [anywhere, keys, alone].some(pattern => pattern.test(name));
}
