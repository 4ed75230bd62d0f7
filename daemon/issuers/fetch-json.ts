import { type LookupAddress, lookup } from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseJsonText } from '../../json/parse-json-text.ts';

/** @limit Time in which an issuer must answer each request, in ms: no delivery waits for it. */
const answerMs = 5_000;
/** @limit Longest answer of an issuer, in bytes: key sets have up to 30 KB. */
const answerBytesMax = 256 * 1024;

export interface FetchRules {
  /** Whether the operator lets the issuer have a private address, or no https. */
  readonly isTrusted: boolean;
  readonly stopping: AbortSignal;
}

/**
 * Fetches a JSON document of an issuer that a definition names. Fails unless the answer is 200: redirects are not followed.
 * Unless the operator trusts the issuer, the URL must have https and lead to a public address, so that a definition cannot
 * make the daemon ask hosts of its own network. The address is judged where the connection takes it, after the look-up.
 */
export async function fetchJson(url: string, { isTrusted, stopping }: FetchRules): Promise<unknown> {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!isTrusted) {
    if (protocol !== 'https:') throw new Error(`${url} has no https; ${howToTrust}`);
    if (isIP(host) !== 0) requirePublic(host, host);
  }
  const timeLimit = AbortSignal.timeout(answerMs);
  const signal = AbortSignal.any([timeLimit, stopping]);
  const options = {
    ...{ agent: false, signal, headers: { Accept: 'application/json' } },
    ...(!isTrusted && { lookup: lookUpPublic }),
  };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      (protocol === 'https:' ? https : http).get(url, options, resolve).on('error', reject);
    });
    return await readJson(response);
  } catch (error) {
    if (timeLimit.aborted)
      throw new Error(`${url} did not answer within ${answerMs / 1_000} s`, { cause: error });
    if (error instanceof Error) throw new Error(`${url}: ${error.message}`, { cause: error });
    throw error;
  }
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  try {
    const { statusCode = 0 } = response;
    if (statusCode >= 300 && statusCode < 400)
      throw new Error(`it answered ${statusCode}; redirects are not followed`);
    if (statusCode !== 200) throw new Error(`it answered ${statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > answerBytesMax) throw new Error(`its answer has more than ${answerBytesMax} bytes`);
      chunks.push(chunk);
    }
    return parseAnswer(Buffer.concat(chunks).toString());
  } finally {
    response.destroy();
  }
}

function parseAnswer(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (cause) {
    // The error of the parser would quote the answer.
    throw new Error('its answer is not JSON', { cause });
  }
}

const howToTrust = 'the operator can list the issuer in oidc.issuers';

/** Looks a host up, and fails if one of its addresses is not public. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, []);
    try {
      for (const { address } of found) requirePublic(address, hostname);
    } catch (refused) {
      return callback(refused as Error, []);
    }
    const [first] = found;
    if (options.all || !first) return callback(null, found);
    callback(null, first.address, first.family);
  });
};

/** Fails for an address that is not public: all special-purpose addresses (RFC 6890) are not. */
function requirePublic(address: string, host: string): void {
  if (ipaddr.process(address).range() === 'unicast') return;
  throw new Error(`${host} has an address that is not public; ${howToTrust}`);
}
