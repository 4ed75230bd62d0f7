import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { parseContentLength } from '../http/read-body.ts';
import type { IngressOutcome } from './ingress-outcome.ts';
import type { RenderProblem } from './problems.ts';

/** @limit Bytes of a refused body that are still read: the sender then sees the answer and not a reset connection. */
const lingerBytesMax = 16 * 1024 * 1024;
/** @limit Time for which a refused body is still read, in ms: most of it is already in transit. */
const lingerMs = 1_000;

/** Writes the answer to a request. */
export function answer(
  context: Context,
  outcome: IngressOutcome,
  renderProblem: RenderProblem,
  bodyBytesMax: number,
): void {
  switch (outcome.result) {
    case 'accepted':
    case 'duplicate':
      send(context, 202, jsonHeaders, `{"delivery_id":"${outcome.deliveryId}"}\n`);
      return;
    case 'handshake': {
      const { status, headers, body } = outcome.handshake;
      send(context, status, headers, status === 204 ? undefined : body);
      return;
    }
    case 'refused':
      answerRefusal(context, outcome, renderProblem, bodyBytesMax);
  }
}

const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

function send(context: Context, status: number, headers: OutgoingHttpHeaders, body?: string): void {
  writeHead(context, status, headers, body);
  context.res.end(body);
}

/** Writes to the response of node: the setters of Koa's take a fifth of a request's time. */
function writeHead(context: Context, status: number, headers: OutgoingHttpHeaders, body?: string): void {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  context.res.writeHead(status, { ...headers, ...length });
  context.respond = false;
}

function answerRefusal(
  context: Context,
  { webhook, problem, retryAfterSeconds }: IngressOutcome & { result: 'refused' },
  renderProblem: RenderProblem,
  bodyBytesMax: number,
): void {
  const { status, body } = renderProblem(problem, retryAfterSeconds);
  const headers: OutgoingHttpHeaders = { 'Content-Type': 'application/problem+json' };
  if (status === 405) headers.Allow = 'POST';
  if (status === 401 && webhook) headers['WWW-Authenticate'] = webhook.authenticator.challenge;
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  const isClosed = status === 413 || problem === 'too-many-uploads' || problem === 'body-in-pieces';
  if (!isClosed && !isRestLong(context.req, bodyBytesMax)) {
    send(context, status, headers, body);
    return;
  }
  writeHead(context, status, { ...headers, Connection: 'close' }, body);
  // An address that failed too often was answered before, and may lose this answer.
  endAfterReading(context, body, problem === 'too-many-failures' ? 0 : lingerBytesMax);
}

/** Says whether reading the rest of the body may cost more than a new connection. */
function isRestLong(req: IncomingMessage, bodyBytesMax: number): boolean {
  if (req.complete) return false;
  const length = parseContentLength(req);
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length > bodyBytesMax;
}

/**
 * Writes the body of an answer, ends its side of the connection, and reads a little more of the request before it closes
 * the socket. Closing it with unread data would reset the connection, and the client would lose the answer.
 */
function endAfterReading({ req, res }: Context, body: string, bytesMax: number): void {
  res.write(body, () => req.socket.end());
  let bytesLeft = bytesMax;
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, lingerMs);
  // What the parser has already read is let go.
  req.resume();
  // Reads past the HTTP parser, which would spend time on each chunk, however tiny.
  req.socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    bytesLeft -= bytes.length;
    if (bytesLeft < 0) end();
  });
  req.socket.once('end', end).once('close', end).resume();
}
