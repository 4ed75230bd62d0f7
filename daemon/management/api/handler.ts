import type { Context } from 'koa';
import type { CheckedParts } from '../../../schema/api/call.ts';
import type { ApiAnswer } from '../../../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../../../schema/api/routes.ts';
import type { Permission } from '../../../schema/permission.ts';
import type { Caller } from '../guards/caller.ts';

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
