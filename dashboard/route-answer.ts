import type { z } from 'zod';

/** The answer of a route: its JSON, text of another media type, or nothing. */
export type RouteAnswer<R> = R extends { answer: { shape: infer Shape extends z.ZodType } }
  ? z.output<Shape>
  : R extends { answer: { mediaType: string } }
    ? string
    : undefined;
