import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { QueueableRuns } from '../../../operations/factory.ts';
import type { CheckedParts } from '../../../schema/api/call.ts';
import type { ApiAnswer } from '../../../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../../../schema/api/routes.ts';
import type { Permission } from '../../../schema/grant.ts';
import type { OwnBaseUrl } from '../../../schema/ingress-url.ts';
import type { DeliveryLog } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import type { Caller, KnownCallers } from '../guards/caller.ts';
import type { SignInAttempts } from '../guards/request-rate.ts';
import type { SessionCookie } from '../guards/sessions.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';
import type { AnswerInThread } from './thread-request.ts';

/** Everything that the handlers in the main thread need. */
export interface ApiDeps {
  readonly store: Store;
  readonly served: ServedFactories;
  readonly deliveryLog: QueueableRuns & Pick<DeliveryLog, 'describeTrouble'>;
  readonly live: LiveDeliveries;
  readonly answerInThread: AnswerInThread;
  readonly callers: KnownCallers;
  readonly cookie: SessionCookie;
  readonly signInAttempts: SignInAttempts;
  /** Gets the public URL of the ingress. */
  readonly baseUrl: () => OwnBaseUrl;
  /** Gets the URL at which the ingress listens; null until it does. */
  readonly listensAt: () => string | null;
  readonly readClientAddress: (request: IncomingMessage) => string;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

/** The operations that only exist with HTTP: sessions, live views, and what the daemon itself serves. */
export type PortId = {
  [Id in OperationId]: ApiRoutes[Id]['thread'] extends 'port' ? Id : never;
}[OperationId];

/** A request that was checked: the caller has the permission, and all parts have the shapes of the route. */
export interface PortRequest<Id extends PortId> extends CheckedParts<Id> {
  readonly caller: ApiRoutes[Id] extends { permission: 'public' } ? undefined : Caller;
  /** The caller's permission on the factory in the path. */
  readonly permission: ApiRoutes[Id] extends { permission: 'read' | 'manage' } ? Permission : undefined;
  /** For cookies, and for answers that are not JSON, which are written to it. */
  readonly context: Context;
}

interface PortReply<Id extends PortId> {
  readonly body: ApiAnswer<ApiRoutes[Id]>;
}

/** Each of these operations has a handler; a missing one does not compile. */
export type PortHandlers = {
  readonly [Id in PortId]: (request: PortRequest<Id>) => Promise<PortReply<Id>> | PortReply<Id>;
};
