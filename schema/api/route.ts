import type { z } from 'zod';
import type { ApiProblemCode } from './problems.ts';

/** Path of the management API. All routes are relative to it. */
export const apiPrefix = '/api/v1';

/**
 * The permission that a caller needs: none; any token or session; or one that may read or manage the factory in the
 * path. There is no default: a route without a permission does not compile.
 */
export type RoutePermission = 'public' | 'signed-in' | 'read' | 'manage';

/**
 * Where a daemon answers: in the main thread, because it takes less than a few ms (`main`), also because it only exists
 * with HTTP, as sessions and live views do (`port`); or in a thread for `operations`, one after the other; in one for
 * `lists` from the delivery log and what acts on its rows, so that no plan delays them; or in one that asks machines
 * `outside`, so that no plan ends it.
 */
export type RouteThread = 'port' | 'main' | 'lists' | 'operations' | 'outside';

export interface ApiRoute {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Relative to `apiPrefix`. `{…}` are parameters. */
  readonly path: string;
  readonly permission: RoutePermission;
  readonly thread: RouteThread;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly bodyBytesMax?: number;
  /** The answer in case of success: its status and shape, or its media type if it is not JSON. */
  readonly answer: {
    readonly status: number;
    readonly shape?: z.ZodType;
    readonly mediaType?: string;
  };
  /** The answer has the serial as its ETag. A change also accepts the serial in If-Match. */
  readonly etag?: true;
  /** The problems that this route can answer with, in addition to the problems of every route. */
  readonly problems?: readonly ApiProblemCode[];
}

/** The names of the parameters in a route's path. */
export type ApiPathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ApiPathParameter<Rest>
  : never;

/** The answer of a route as parsed JSON; `NotJson` if it is not JSON. */
export type ApiAnswer<Route, NotJson = undefined> = Route extends {
  answer: { shape: infer Shape extends z.ZodType };
}
  ? z.output<Shape>
  : NotJson;

/** The answer of a route to a page: its JSON, text of another media type, or nothing. */
export type RouteAnswer<R> = ApiAnswer<R, R extends { answer: { mediaType: string } } ? string : undefined>;
