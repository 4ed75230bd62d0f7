import type { z } from 'zod';
import { findMistakes } from '../definitions/shape-mistakes.ts';
import { Refusal } from '../refusal.ts';
import type { ApiAnswer, ApiPathParameter, ApiRoute } from './route.ts';
import type { ApiRoutes, CallableId, OperationId } from './routes.ts';

/** The parts of a request as a client writes them. The transport adds the factory. */
export interface CallParts<Id extends CallableId> {
  readonly params?: { readonly [Name in Exclude<ParameterOf<Id>, 'factory'>]: string };
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: ApiRoutes[Id] extends { body: infer Shape extends z.ZodType } ? z.input<Shape> : undefined;
  /** The serial that the state must have: the change is refused if it has another. */
  readonly ifSerial?: number;
}

/** Calls an operation. Fails with the operation's Refusal, wherever it is answered. Answers that are not JSON are bytes. */
export type CallOperation = <Id extends CallableId>(
  id: Id,
  parts?: CallParts<Id>,
) => Promise<ApiAnswer<ApiRoutes[Id], Uint8Array>>;

/** The parts of a request whose shapes were checked. */
export interface CheckedParts<Id extends OperationId> {
  readonly params: Readonly<Record<ParameterOf<Id>, string>>;
  readonly query: ApiRoutes[Id] extends { query: infer Shape extends z.ZodType }
    ? z.output<Shape>
    : undefined;
  readonly body: ApiRoutes[Id] extends { body: infer Shape extends z.ZodType } ? z.output<Shape> : undefined;
  readonly ifSerial: number | undefined;
}

type ParameterOf<Id extends OperationId> = ApiPathParameter<ApiRoutes[Id]['path']>;

/** Checks a body. Fails with `request-invalid`, which lists the mistakes by JSON Pointer (RFC 6901 section 3). */
export function checkBody(value: unknown, { body }: ApiRoute): unknown {
  return (
    body &&
    requireShape(body, value, path => {
      return path.map(key => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    })
  );
}

/** Checks query parameters. Fails with `request-invalid`, which lists the mistakes by name. */
export function checkQuery(value: unknown, { query }: ApiRoute): unknown {
  return query && requireShape(query, value, path => path.join('.'));
}

function requireShape(
  shape: z.ZodType,
  value: unknown,
  formatPath: (path: readonly PropertyKey[]) => string,
): unknown {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const mistakes = findMistakes(result.error, shape, value).map(({ path, code, message, hint }) => {
    return { pointer: formatPath(path), code, message, hint };
  });
  throw new Refusal('request-invalid', { mistakes });
}
