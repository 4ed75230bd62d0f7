import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import type { Logger } from 'pino';
import getRawBody from 'raw-body';
import { clientAddressBehind } from '../http/client-address.ts';
import type { IngressMetrics } from '../observability/metrics.ts';
import type { ServedWebhook } from '../served/served-webhooks.ts';
import type { DaemonSettings } from '../settings.ts';
import { problemBodies } from './problems.ts';
import {
  type BodyRead,
  type IngressDeps,
  type IngressOutcome,
  type IngressRequest,
  receiveDelivery,
} from './receive-delivery.ts';

/** @limit Bytes of a refused body that are still read: the sender then sees the answer and not a reset connection. */
const lingerBytesMax = 16 * 1024 * 1024;
/** @limit Time for which a refused body is still read, in ms: most of it is already in transit. */
const lingerMs = 1_000;

export interface IngressOptions {
  readonly deps: IngressDeps;
  readonly settings: DaemonSettings;
  readonly log: Logger;
  readonly metrics: IngressMetrics;
  readonly stopping: () => boolean;
  /** A delivery is on disk, about to be answered 202. */
  readonly onAccepted: (webhook: ServedWebhook) => void;
}

/** The ingress as a Koa application: Koa is transport alone, `receiveDelivery` decides. */
export function createIngress(options: IngressOptions): Koa {
  const clientAddress = clientAddressBehind(options.settings.trustProxies);
  const app = new Koa();
  const receive = async (context: Koa.Context) => {
    const startedMs = performance.now();
    const request = ingressRequest(context, options, clientAddress);
    const outcome = await receiveDelivery(request, options.deps);
    if (outcome.result === 'accepted') options.onAccepted(outcome.webhook);
    if (options.stopping()) context.set('Connection', 'close');
    respond(context, outcome, options.settings.limits.bodyBytes);
    report(options, context, outcome, performance.now() - startedMs);
  };
  app.use(async context => {
    try {
      await receive(context);
    } catch (err) {
      options.log.error({ err }, 'request failed');
      context.status = 500;
    }
  });
  // What is left for Koa to report is how connections broke off: their clients' doing.
  app.on('error', (err: unknown) => options.log.debug({ err }, 'connection broken off'));
  return app;
}

function ingressRequest(
  { req, res, path, method }: Koa.Context,
  { settings }: IngressOptions,
  clientAddress: (request: IncomingMessage) => string,
): IngressRequest {
  return {
    method,
    path,
    headers: req.headers,
    contentLength: contentLengthOf(req),
    get url() {
      return `${settings.baseUrl ?? `http://${req.headers.host}`}${originForm(req)}`;
    },
    get clientAddress() {
      return clientAddress(req);
    },
    get distinctHeaders() {
      return req.headersDistinct;
    },
    readBody: () => readBody(req, res, settings.limits.bodyBytes),
  };
}

/** The request target without scheme and host, which a client may send as well (RFC 9112 section 3.2.2). */
function originForm({ url = '' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '');
}

/** What a client announces may be up to 2^64; what a number cannot count is over every limit all the same. */
function contentLengthOf({ headers }: IncomingMessage): number | undefined {
  const value = headers['content-length'];
  return value === undefined ? undefined : Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

/** The whole body, or why there is none. A client that waits for leave to send it (`Expect`) gets it here. */
async function readBody(req: IncomingMessage, res: ServerResponse, limit: number): Promise<BodyRead> {
  const length = contentLengthOf(req);
  if (length !== undefined && length > limit) return { ok: false, problem: 'too-large', bytesSeen: length };
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
  try {
    return { ok: true, body: await getRawBody(req, { limit, length }) };
  } catch (error) {
    const { type, received } = error as { type?: string; received?: number };
    if (type === 'entity.too.large')
      return { ok: false, problem: 'too-large', bytesSeen: received ?? limit + 1 };
    return { ok: false, problem: 'body-incomplete' };
  }
}

function respond(context: Koa.Context, outcome: IngressOutcome, bodyBytesMax: number): void {
  if (outcome.result === 'handshake') {
    const { status, headers, body } = outcome.handshake;
    context.set(headers);
    context.status = status;
    context.body = status === 204 ? null : body;
    return;
  }
  if (outcome.result !== 'refused') {
    context.status = 202;
    context.type = 'application/json';
    context.body = `{"delivery_id":"${outcome.deliveryId}"}\n`;
    return;
  }
  const { status, body } = problemBodies[outcome.problem];
  context.status = status;
  context.set('Content-Type', 'application/problem+json');
  if (status === 405) context.set('Allow', 'POST');
  if (status === 401) context.set('WWW-Authenticate', 'Bearer');
  if (outcome.retryAfterSeconds !== undefined) context.set('Retry-After', String(outcome.retryAfterSeconds));
  if (status === 413 || restIsLong(context.req, bodyBytesMax)) closeAfterReading(context, body);
  else context.body = body;
}

/** Whether so much of the body may be on its way that reading it to its end costs more than a new connection. */
function restIsLong(req: IncomingMessage, bodyBytesMax: number): boolean {
  if (req.complete) return false;
  const length = contentLengthOf(req);
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length > bodyBytesMax;
}

/**
 * Answers, ends its side of the connection, and reads a little more of what the client is still sending before it
 * closes: a socket that is closed with unread data resets the connection, and the client would lose the answer.
 */
function closeAfterReading(context: Koa.Context, body: string): void {
  const { req, res } = context;
  context.respond = false;
  res.writeHead(context.status, { Connection: 'close', 'Content-Length': body.length });
  res.write(body, () => req.socket.end());
  let bytesLeft = lingerBytesMax;
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, lingerMs);
  req.on('data', (chunk: Buffer) => {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) end();
  });
  req.once('end', end).once('close', end).resume();
}

function report(
  { log, metrics }: IngressOptions,
  context: Koa.Context,
  outcome: IngressOutcome,
  ms: number,
): void {
  const result = outcome.result === 'refused' ? outcome.problem : outcome.result;
  const { webhook } = outcome;
  metrics.observe(webhook, result, ms / 1000);
  const level = outcome.deliveryId === undefined ? 'debug' : 'info';
  if (outcome.result === 'refused' && outcome.cause !== undefined) {
    log.error({ err: outcome.cause, webhook: webhook?.name }, 'the delivery could not be recorded');
  } else if (log.isLevelEnabled(level)) {
    const { deliveryId: delivery } = outcome;
    // No path: that of a url_token webhook holds its credential.
    const fields = { result, status: context.res.statusCode, ms: Math.round(ms * 10) / 10, delivery };
    log[level]({ ...fields, factory: webhook?.factory, webhook: webhook?.name }, 'delivery');
  }
}
