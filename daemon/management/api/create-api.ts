import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Logger } from 'pino';
import type { DeliveryLog } from '../../../store/delivery-log.ts';
import { openDeliveryLogQueries } from '../../../store/embedded/delivery-log/read/queries.ts';
import type { Home } from '../../../store/embedded/files/home.ts';
import type { Seal } from '../../../store/sealing.ts';
import type { AppliedStates } from '../../served/served-states.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';
import type { ApiDeps } from './api-deps.ts';
import { createApiRouter } from './api-router.ts';
import { openApiTokens } from './api-tokens.ts';
import { sessionCookie } from './browser-guards.ts';
import { definitionHandlers } from './definition-handlers.ts';
import { factoryHandlers } from './factory-handlers.ts';
import { logHandlers } from './log-handlers.ts';
import { sessionHandlers } from './session-handlers.ts';
import { memorySessions } from './sessions.ts';
import { memorySignInAttempts } from './sign-in-attempts.ts';

/** @limit Time for which a change by the management API waits for another process that changes the same, in ms. */
const apiLockTimeoutMs = 5_000;

export interface ApiOptions {
  readonly home: Home;
  readonly seal: Seal;
  readonly appliedStates: AppliedStates;
  readonly deliveryLog: DeliveryLog;
  readonly live: LiveDeliveries;
  /** The ingress' public URL. */
  readonly baseUrl: () => string;
  /** How the management port is reached through a proxy, if it is. */
  readonly managementUrl: string | undefined;
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export interface Api {
  readonly router: Router;
  close(): Promise<void>;
}

/** Wires the management API. */
export function createApi({ managementUrl, clientAddress, ...options }: ApiOptions): Api {
  const { home, live, nowMs, log } = options;
  const store = { home, lockTimeoutMs: apiLockTimeoutMs };
  const deps: ApiDeps = {
    ...options,
    queries: openDeliveryLogQueries(home.deliveryLogFile),
    tokens: openApiTokens({ store, nowMs, log }),
    sessions: memorySessions({ nowMs, randomBytes }),
    cookie: sessionCookie(managementUrl),
    signInAttempts: memorySignInAttempts(),
    lockTimeoutMs: apiLockTimeoutMs,
    randomBytes,
  };
  const handlers = {
    ...sessionHandlers(deps, clientAddress),
    ...factoryHandlers(deps),
    ...logHandlers(deps),
    ...definitionHandlers(deps),
  };
  return {
    router: createApiRouter({ ...deps, handlers }),
    close: async () => {
      live.close();
      await deps.tokens.close();
      await deps.queries.close();
    },
  };
}
