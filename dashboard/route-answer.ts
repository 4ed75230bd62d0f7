import type { ApiAnswer } from '../schema/api/route.ts';

/** The answer of a route: its JSON, text of another media type, or nothing. */
export type RouteAnswer<R> = ApiAnswer<R, R extends { answer: { mediaType: string } } ? string : undefined>;
