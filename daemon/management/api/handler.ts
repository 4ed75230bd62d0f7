import type { Context } from 'koa';
import type { z } from 'zod';
import type { ApiAnswer, ApiPathParameter } from '../../../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../../../schema/api/routes.ts';
import type { Caller } from '../guards/caller.ts';

/** A request that was checked: the caller has the permission, and all parts are valid. */
export interface ApiRequest<Id extends OperationId> {
  readonly params: Readonly<Record<ApiPathParameter<ApiRoutes[Id]['path']>, string>>;
  readonly query: QueryOf<ApiRoutes[Id]>;
  readonly body: BodyOf<ApiRoutes[Id]>;
  /** The serial in `If-Match`: the change is refused if the state has moved on. */
  readonly ifSerial: number | undefined;
  readonly caller: CallerOf<ApiRoutes[Id]>;
  /** For answers that are not JSON. */
  readonly context: Context;
}

/** The body, and the serial if it shows a factory's state. Answers that are not JSON are written to the context. */
export interface ApiReply<T> {
  readonly body: T;
  readonly serial?: number;
}

export type ApiHandler<Id extends OperationId> = (
  request: ApiRequest<Id>,
) => Promise<ApiReply<Immutable<ApiAnswer<ApiRoutes[Id]>>>> | ApiReply<Immutable<ApiAnswer<ApiRoutes[Id]>>>;

/** An answer is only serialized, so operations may give read-only values. */
type Immutable<T> = unknown extends T ? T : { readonly [K in keyof T]: Immutable<T[K]> };

/** Each operation has a handler; a missing one does not compile. */
export type ApiHandlers = { readonly [Id in OperationId]: ApiHandler<Id> };

type QueryOf<Route> = Route extends { query: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
type BodyOf<Route> = Route extends { body: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
type CallerOf<Route> = Route extends { permission: 'public' } ? undefined : Caller;
