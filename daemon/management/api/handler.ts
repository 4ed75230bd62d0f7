import type { Context } from 'koa';
import type { z } from 'zod';
import type { ApiRoutes, OperationId } from '../../../schema/api/routes.ts';
import type { Caller } from '../guards/caller.ts';

/** A request to an operation: permitted, and its parts checked. */
export interface ApiRequest<Id extends OperationId> {
  readonly params: PathParameters<ApiRoutes[Id]['path']>;
  readonly query: QueryOf<ApiRoutes[Id]>;
  readonly body: BodyOf<ApiRoutes[Id]>;
  /** The serial that a change was decided on. */
  readonly ifSerial: number | undefined;
  readonly caller: CallerOf<ApiRoutes[Id]>;
  /** For what is no JSON. */
  readonly context: Context;
}

/** The body and, with a factory's state, its serial. An operation that answers no JSON writes to the context itself. */
export interface ApiReply<T> {
  readonly body: T;
  readonly serial?: number;
}

export type ApiHandler<Id extends OperationId> = (
  request: ApiRequest<Id>,
) => Promise<ApiReply<Immutable<AnswerOf<ApiRoutes[Id]>>>> | ApiReply<Immutable<AnswerOf<ApiRoutes[Id]>>>;

/** An answer is only written out: operations may give what nobody must change. */
type Immutable<T> = unknown extends T ? T : { readonly [K in keyof T]: Immutable<T[K]> };

/** Each operation has its handler, or this does not compile. */
export type ApiHandlers = { readonly [Id in OperationId]: ApiHandler<Id> };

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParameters<Rest>
  : unknown;
type QueryOf<Route> = Route extends { query: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
type BodyOf<Route> = Route extends { body: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
type CallerOf<Route> = Route extends { permission: 'public' } ? undefined : Caller;
type AnswerOf<Route> = Route extends { answer: { shape: infer Shape extends z.ZodType } }
  ? z.output<Shape>
  : undefined;
