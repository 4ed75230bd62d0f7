import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Logger } from 'pino';
import { apiDefinitionsBytesMax } from '../../../schema/api/routes.ts';
import type { OwnBaseUrl } from '../../../schema/ingress-url.ts';
import type { DeliveryLog } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import { UnverifiedBodies } from '../../http/bodies.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import { type Caller, type IssuerCallers, identifyCaller, openKnownTokens } from '../guards/caller.ts';
import { createRequestRate, createSignInAttempts } from '../guards/request-rate.ts';
import { createCookie, createSessionCookie, createSessions } from '../guards/sessions.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import { type ApiRouterDeps, createApiRouter } from './api-router.ts';
import type { ApiDeps } from './handler.ts';
import { createDaemonHandler, createLiveHandler, type DaemonFacts } from './port-handlers.ts';
import { createSessionHandlers, createSignInHandlers } from './session-handlers.ts';
import type { AnswerInThread } from './thread-request.ts';

export interface ApiOptions {
  readonly store: Store;
  readonly served: ServedFactories;
  readonly deliveryLog: DeliveryLog;
  readonly live: LiveDeliveries;
  readonly answerInThread: AnswerInThread;
  /** Gets the public URL of the ingress. */
  readonly baseUrl: () => OwnBaseUrl;
  /** Gets the URL at which the ingress listens; null until it does. */
  readonly listensAt: () => string | null;
  /** The URL of the management port behind a proxy, if there is one. */
  readonly managementUrl: string | undefined;
  /** Finds who sent a token of an issuer. */
  readonly workloads: IssuerCallers;
  /** Undefined unless people can sign in at a provider. */
  readonly signIn: SignIn | undefined;
  readonly readClientAddress: (request: IncomingMessage) => string;
  readonly requestsPerMinute: number;
  readonly facts: DaemonFacts;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly log: Logger;
}

export interface Api {
  readonly router: Router;
  /** Finds who sent an `Authorization` header, and counts the request. Fails with one of `tokenProblems`, or `too-many-requests`. */
  identify(request: IncomingMessage): Promise<Caller>;
  close(): Promise<void>;
}

/** Wires the management API. */
export function createApi({
  managementUrl,
  signIn,
  requestsPerMinute,
  monotonicMs,
  ...options
}: ApiOptions): Api {
  const { store, live, nowMs, log } = options;
  const deps: ApiDeps = {
    ...options,
    callers: {
      tokens: openKnownTokens({ apiTokens: store.apiTokens, nowMs, log }),
      sessions: createSessions({ stored: store.sessions, randomBytes, log }),
      workloads: options.workloads,
      findGrants: person => signIn?.findGrants(person) ?? [],
    },
    cookie: createSessionCookie(managementUrl),
    signInAttempts: createSignInAttempts(monotonicMs),
    randomBytes,
  };
  const { callers, readClientAddress } = deps;
  const rate = createRequestRate(requestsPerMinute, monotonicMs);
  const identify: ApiRouterDeps['identify'] = (credentials, request) =>
    identifyCaller(credentials, callers).catch(error => {
      rate.count(readClientAddress(request));
      throw error;
    });
  const handlers = {
    ...createSessionHandlers(deps),
    ...createSignInHandlers(deps, signIn, createCookie(managementUrl, 'sign_in')),
    showDaemon: createDaemonHandler(deps, options.facts),
    watchDeliveries: createLiveHandler(deps),
  };
  return {
    router: createApiRouter({
      ...{ ...deps, handlers, identify, rate },
      bodies: new UnverifiedBodies(apiDefinitionsBytesMax),
    }),
    identify: async request => {
      const { authorization } = request.headers;
      const caller = await identify({ authorization, session: undefined }, request);
      rate.count(caller.sha256);
      return caller;
    },
    close: async () => {
      live.close();
      await callers.tokens.close();
    },
  };
}
