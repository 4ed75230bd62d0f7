import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { z } from 'zod';
import { ApiProblem } from '../../../schema/api/problems.ts';
import type { ApiRoute } from '../../../schema/api/route.ts';
import { findMistakes } from '../../../schema/definitions/shape-mistakes.ts';
import { parseJsonBody } from '../../ingress/json-body.ts';

/** @limit Largest body of a management request, in bytes: the largest ordinary one is an automation with its prompt and filters. */
const apiBodyBytesMax = 256 * 1024;

/** The body of a route that takes one, checked against its shape. Fails with the problem that says what is wrong. */
export async function readBody(request: IncomingMessage, route: ApiRoute): Promise<unknown> {
  if (!route.body) return undefined;
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') throw new ApiProblem('not-json');
  const bytes = await readBytes(request, route.bodyBytesMax ?? apiBodyBytesMax);
  const json = parseJsonBody(bytes);
  if (!json) throw new ApiProblem('body-unreadable');
  return checked(route.body, json.value, jsonPointer);
}

/** The query parameters, checked; each stands once. */
export function readQuery(parameters: URLSearchParams, { query }: ApiRoute): unknown {
  return query && checked(query, Object.fromEntries(parameters), path => path.join('.'));
}

/** The serial in `If-Match`, if there is one. `*` is whatever there is. */
export function readIfMatch({ headers }: IncomingMessage): number | undefined {
  const value = headers['if-match'];
  if (value === undefined || value === '*') return undefined;
  const serial = /^"(\d{1,15})"$/.exec(value)?.[1];
  if (serial === undefined) {
    throw new ApiProblem('serial-moved', { detail: 'If-Match takes one ETag, as in "7"' });
  }
  return Number(serial);
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const length = request.headers['content-length'];
  try {
    return await getRawBody(request, { limit, ...(length !== undefined && { length }) });
  } catch (cause) {
    const { type } = cause as { type?: string };
    throw new ApiProblem(type === 'entity.too.large' ? 'body-too-large' : 'body-unreadable', {}, { cause });
  }
}

function checked(
  shape: z.ZodType,
  value: unknown,
  placeOf: (path: readonly PropertyKey[]) => string,
): unknown {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const mistakes = findMistakes(result.error, shape, value).map(({ path, code, message, hint }) => {
    return { pointer: placeOf(path), code, message, hint };
  });
  throw new ApiProblem('request-invalid', { mistakes });
}

/** RFC 6901 section 3. */
function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map(key => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
