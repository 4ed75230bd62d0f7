import { type LookupAddress, lookup } from 'node:dns';
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export interface GuardedRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of the body, which the headers describe. */
  readonly body?: string | undefined;
  /** Time for the whole answer, in ms. */
  readonly answerMs: number;
  /** Longest body of the answer, in bytes. */
  readonly answerBytesMax: number;
  /** Whether the operator lets the server have a private address, or no https. */
  readonly isTrusted: boolean;
  /** What an operator can do if the server is not trusted, as the end of a sentence. */
  readonly howToTrust: string;
  /** Ends the request. */
  readonly stopping: AbortSignal;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Tells one failure of a request from another. */
export type GuardedRequestErrorCode =
  | 'not-allowed'
  | 'redirected'
  | 'too-large'
  | 'timed-out'
  | 'stopped'
  | 'failed';

/** A request that got no answer. The message names the URL without user, password and query, and no header or body. */
export class GuardedRequestError extends Error {
  readonly code: GuardedRequestErrorCode;

  constructor(code: GuardedRequestErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GuardedRequestError';
    this.code = code;
  }
}

/**
 * Sends one request to a server that a definition names, and reads the answer, whatever its status. Redirects are not
 * followed: they fail. Unless the operator trusts the server, the URL must have https and lead to a public address, so that
 * a definition cannot make hookmill ask hosts of its own network. The address is judged where the connection takes it, after
 * the look-up. Fails with GuardedRequestError.
 */
export async function requestGuarded(request: GuardedRequest): Promise<GuardedAnswer> {
  const { answerMs, stopping } = request;
  const timeLimit = AbortSignal.timeout(answerMs);
  const url = new URL(request.url);
  const shown = `${url.origin}${url.pathname}`;
  try {
    stopping.throwIfAborted();
    if (!request.isTrusted) requireGuarded(url, request.howToTrust);
    const response = await send(request, url, AbortSignal.any([timeLimit, stopping]));
    return await readAnswer(response, request.answerBytesMax);
  } catch (error) {
    if (stopping.aborted) throw new GuardedRequestError('stopped', `${shown}: hookmill ended the request`);
    if (timeLimit.aborted) {
      const message = `${shown} did not answer within ${answerMs / 1_000} s`;
      throw new GuardedRequestError('timed-out', message, { cause: error });
    }
    if (!(error instanceof Error)) throw error;
    const code = error instanceof GuardedRequestError ? error.code : 'failed';
    throw new GuardedRequestError(code, `${shown}: ${error.message}`, { cause: error });
  }
}

function send(request: GuardedRequest, url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body, isTrusted, howToTrust } = request;
  const options = {
    ...{ agent: false, signal, method },
    headers: body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
    ...(!isTrusted && { lookup: createPublicLookUp(howToTrust) }),
  };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? https : http).request(url, options, resolve);
    outgoing.on('error', reject).end(body);
  });
}

async function readAnswer(response: IncomingMessage, bytesMax: number): Promise<GuardedAnswer> {
  try {
    const { statusCode: status = 0, headers } = response;
    if (status >= 300 && status < 400)
      throw new GuardedRequestError('redirected', `it answered ${status}; redirects are not followed`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw new GuardedRequestError('too-large', `its answer has more than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
    return { status, headers, body: Buffer.concat(chunks).toString() };
  } finally {
    response.destroy();
  }
}

/** Fails for a URL without https, and for one whose host is an address that is not public. */
function requireGuarded({ protocol, hostname }: URL, howToTrust: string): void {
  if (protocol !== 'https:') throw new GuardedRequestError('not-allowed', `it has no https; ${howToTrust}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) requirePublic(host, host, howToTrust);
}

/** Makes a function that looks a host up, and fails if one of its addresses is not public. */
function createPublicLookUp(howToTrust: string): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      try {
        for (const { address } of found) requirePublic(address, hostname, howToTrust);
      } catch (refused) {
        return callback(refused as Error, []);
      }
      const [first] = found;
      if (options.all || !first) return callback(null, found);
      callback(null, first.address, first.family);
    });
  };
}

function requirePublic(address: string, host: string, howToTrust: string): void {
  if (isPublicAddress(address)) return;
  throw new GuardedRequestError('not-allowed', `${host} has an address that is not public; ${howToTrust}`);
}
