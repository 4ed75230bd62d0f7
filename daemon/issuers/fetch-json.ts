import { parseJsonText } from '../../json/parse-json-text.ts';
import { requestGuarded } from '../../senders/guarded-request.ts';

/** @limit Time in which an issuer must answer each request, in ms: no delivery waits for it. */
const answerMs = 5_000;
/** @limit Longest answer of an issuer, in bytes: key sets have up to 30 KB. */
const answerBytesMax = 256 * 1024;

export interface FetchRules {
  /** Whether the operator lets the issuer have a private address, or no https. */
  readonly isTrusted: boolean;
  readonly stopping: AbortSignal;
}

const howToTrust = 'the operator can list the issuer in oidc.issuers';

/**
 * Fetches a JSON document of an issuer that a definition names. Fails unless the answer is 200: redirects are not followed.
 * Unless the operator trusts the issuer, the URL must have https and lead to a public address.
 */
export async function fetchJson(url: string, rules: FetchRules): Promise<unknown> {
  const headers = { Accept: 'application/json' };
  const { status, body } = await requestGuarded({
    ...{ url, headers, answerMs, answerBytesMax, howToTrust },
    ...rules,
  });
  if (status !== 200) throw new Error(`${url}: it answered ${status}`);
  try {
    return parseJsonText(body);
  } catch (cause) {
    // The error of the parser would quote the answer.
    throw new Error(`${url}: its answer is not JSON`, { cause });
  }
}
