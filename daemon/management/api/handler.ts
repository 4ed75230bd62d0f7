import type { Context } from 'koa';
import type { z } from 'zod';
import type { ApiAnswer, ApiPathParameter } from '../../../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../../../schema/api/routes.ts';
import type { Permission } from '../../../schema/permission.ts';
import type { Caller } from '../guards/caller.ts';

/** A request that was checked: the caller has the permission, and all parts are valid. */
export interface ApiRequest<Id extends OperationId> {
  readonly params: Readonly<Record<ApiPathParameter<ApiRoutes[Id]['path']>, string>>;
  readonly query: QueryOf<ApiRoutes[Id]>;
  readonly body: BodyOf<ApiRoutes[Id]>;
  /** The serial in `If-Match`: the change is refused if the state has moved on. */
  readonly ifSerial: number | undefined;
  readonly caller: CallerOf<ApiRoutes[Id]>;
  /** The caller's permission on the factory in the path. */
  readonly permission: PermissionOf<ApiRoutes[Id]>;
}

/** The body, and the serial if it shows a factory's state. Answers that are not JSON are written to the context. */
export interface ApiReply<T> {
  readonly body: T;
  readonly serial?: number;
  /** Names the change in the audit log; null if nothing was changed. By default, the parameters of the path do. */
  readonly changed?: string | null;
}

type ReplyOf<Id extends OperationId, NotJson> = ApiReply<Immutable<ApiAnswer<ApiRoutes[Id], NotJson>>>;

/** The context is for answers that are not JSON. */
type PortHandler<Id extends OperationId> = (
  request: ApiRequest<Id> & { readonly context: Context },
) => Promise<ReplyOf<Id, undefined>> | ReplyOf<Id, undefined>;

type ThreadHandler<Id extends OperationId> = (
  request: ApiRequest<Id>,
) => Promise<ReplyOf<Id, unknown>> | ReplyOf<Id, unknown>;

/** An answer is only serialized, so operations may give read-only values. */
type Immutable<T> = unknown extends T ? T : { readonly [K in keyof T]: Immutable<T[K]> };

/** The operations that the main thread handles: none of them takes more than a few ms. */
export type PortOperationId =
  | ('showSignIn' | 'beginSignIn' | 'finishSignIn' | 'signIn' | 'whoAmI' | 'signOut')
  | ('listSessions' | 'endSession')
  | ('listFactories' | 'listSchemes' | 'watchDeliveries' | 'retryRun' | 'dismissRun')
  | ('downloadPayload' | 'showRunOutput' | 'downloadArtifact');

/** All other operations are handled in a thread of their own, one after the other. */
export type ThreadOperationId = Exclude<OperationId, PortOperationId>;

const listIds = [
  'showActivity',
  'showHealth',
  'showHealthOverview',
  'listDeliveries',
  'listUnlogged',
  'listRuns',
  'showRun',
  'listTokens',
  'listAudit',
] as const satisfies OperationId[];
export type ListOperationId = (typeof listIds)[number];

/** Whether an operation only lists from the delivery log. Those have a thread of their own, so that no plan delays them. */
export function isList(id: OperationId): boolean {
  return (listIds as readonly OperationId[]).includes(id);
}

/** Each operation has a handler; a missing one does not compile. */
export type PortHandlers = { readonly [Id in PortOperationId]: PortHandler<Id> };
export type ThreadHandlers = { readonly [Id in ThreadOperationId]: ThreadHandler<Id> };

type QueryOf<Route> = Route extends { query: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
type BodyOf<Route> = Route extends { body: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
type CallerOf<Route> = Route extends { permission: 'public' } ? undefined : Caller;
type PermissionOf<Route> = Route extends { permission: 'read' | 'manage' } ? Permission : undefined;
