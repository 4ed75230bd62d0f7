import Router, { type RouterContext } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Logger } from 'pino';
import { UnverifiedBodies } from '../http/bodies.ts';
import { createAddressReader } from '../http/client-address.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { RequestTrace, Traces } from '../observability/traces.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';
import type { DaemonSettings } from '../settings.ts';
import { answer, createProblemRenderer, type IngressOutcome } from './answer.ts';
import { KoaRequest, readPath } from './koa-request.ts';
import { type DeliveryTarget, type IngressDeps, receiveDelivery } from './receive-delivery.ts';
import type { UnloggedRequests } from './unlogged-requests.ts';

/** Answers the requests of receivers that report on runs, on the same port. */
export interface ReportEndpoint {
  /** The path of a report, in the router's notation. */
  readonly path: string;
  /** Never rejects. */
  answer(context: Context): Promise<void>;
}

export interface IngressOptions {
  readonly deps: IngressDeps;
  readonly settings: Pick<DaemonSettings, 'baseUrl' | 'limits' | 'trustProxies'>;
  readonly log: Logger;
  readonly observe: Metrics['observeRequest'];
  readonly unlogged: Pick<UnloggedRequests, 'count'>;
  /** Undefined unless the daemon traces. */
  readonly traces?: Traces | undefined;
  readonly isStopping: () => boolean;
  /** Undefined unless receivers get callbacks. */
  readonly reports?: ReportEndpoint | undefined;
  /** Called when a delivery is on disk, just before its 202 is sent. */
  readonly onAccepted: (webhook: ServedWebhook) => void;
}

const deliveryPaths = ['/webhooks/w/:uid', '/webhooks/w/:uid/:token'];
/** The methods with which senders deliver, or ask before they deliver. */
const deliveryMethods = ['post', 'get', 'head', 'options'];

/** Creates the ingress as a Koa application: Koa and its router are only the transport, `receiveDelivery` decides. */
export function createIngress(options: IngressOptions): Koa {
  const { deps, settings, log, unlogged, traces, reports, onAccepted, isStopping } = options;
  const bodyBytesMax = settings.limits.bodyBytes;
  const readClientAddress = createAddressReader(settings.trustProxies);
  const requestOptions = {
    baseUrl: settings.baseUrl,
    bodyBytesMax,
    unverifiedBodies: new UnverifiedBodies(bodyBytesMax),
    readClientAddress,
  };
  const answerSettings = { renderProblem: createProblemRenderer(), findRate: deps.findRate };
  const serve = async (context: Context, target: DeliveryTarget | undefined) => {
    const startedMs = performance.now();
    const trace = traces?.beginRequest(context.req);
    try {
      const request = new KoaRequest(context, requestOptions, trace);
      const outcome = await receiveDelivery(request, target, deps);
      // A refusal of an incomplete request is not delayed: the rest of the request would be parsed meanwhile.
      if (outcome.result === 'refused' && context.req.complete) await endOfTurn();
      if (outcome.result === 'accepted') onAccepted(outcome.webhook);
      if (isStopping()) context.set('Connection', 'close');
      answer(context, outcome, answerSettings);
      if (outcome.result === 'refused') unlogged.count(outcome, context);
      report(options, context.res.statusCode, outcome, performance.now() - startedMs, trace);
    } catch (err) {
      log.error({ err }, 'request failed');
      context.status = 500;
      trace?.end(500);
    }
  };
  const router = new Router({ sensitive: true, strict: true });
  const deliver = (context: RouterContext) => {
    // Not the parameters, which are decoded.
    const [uid = '', token] = context.captures ?? [];
    return serve(context, { uid, token });
  };
  router.register(deliveryPaths, deliveryMethods, deliver);
  if (reports) router.all(reports.path, reports.answer);
  const app = new Koa();
  // Routes see the path as it was sent. Koa's own getter fails on some targets.
  Object.defineProperty(app.request, 'path', { get: readPath });
  app.use(router.routes());
  app.use(context => serve(context, undefined));
  // The only errors that Koa itself reports are connections broken by the client.
  app.on('error', (err: unknown) => log.debug({ err }, 'connection broken'));
  return app;
}

/**
 * Waits until the event loop has read what has arrived. Answers that are written one after the other cost half as much:
 * to write the first one of them wakes the client, for the others it is awake. Accepted deliveries wait together anyway.
 */
function endOfTurn(): Promise<void> {
  turn ??= new Promise(resolve => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

let turn: Promise<void> | undefined;

function report(
  { log, observe }: IngressOptions,
  status: number,
  outcome: IngressOutcome,
  elapsedMs: number,
  trace: RequestTrace | undefined,
): void {
  trace?.end(status, outcome);
  const result = outcome.result === 'refused' ? outcome.problem : outcome.result;
  const { webhook } = outcome;
  observe(webhook, result, elapsedMs / 1000);
  const level = outcome.deliveryId === undefined ? 'debug' : 'info';
  if (outcome.result === 'refused' && outcome.cause !== undefined) {
    log.error({ err: outcome.cause, webhook: webhook?.name }, 'cannot record a delivery');
  } else if (log.isLevelEnabled(level)) {
    const { deliveryId: delivery } = outcome;
    // The path is not logged, because it contains the credential of a url_token webhook.
    const fields = { result, status, ms: Math.round(elapsedMs * 10) / 10, delivery, trace: trace?.traceId };
    log[level]({ ...fields, factory: webhook?.factory, webhook: webhook?.name }, 'delivery');
  }
}
