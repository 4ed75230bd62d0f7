import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { QueueableRuns } from '../../../operations/factory.ts';
import type { Store } from '../../../store/ports.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import type { KnownCallers } from '../guards/caller.ts';
import type { SessionCookie } from '../guards/session-cookie.ts';
import type { SignInAttempts } from '../guards/sign-in-attempts.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';
import type { AnswerInThread } from './thread-request.ts';

/** Everything that the handlers in the main thread need. */
export interface ApiDeps {
  readonly store: Store;
  readonly served: ServedFactories;
  readonly deliveryLog: QueueableRuns;
  readonly live: LiveDeliveries;
  readonly answerInThread: AnswerInThread;
  readonly callers: KnownCallers;
  readonly cookie: SessionCookie;
  readonly signInAttempts: SignInAttempts;
  /** Gets the public URL of the ingress. */
  readonly baseUrl: () => string;
  readonly readClientAddress: (request: IncomingMessage) => string;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}
