import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { checkBody } from '../../../schema/api/call.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import type { ApiRoute } from '../../../schema/api/route.ts';
import { type BodyRoom, parseJsonBody, permitBody, readBody } from '../../http/bodies.ts';

/** @limit Largest body of a management request, in bytes: the largest ordinary one is an automation with its prompt and filters. */
const apiBodyBytesMax = 256 * 1024;

/** Reads the body of a route that takes one, into the given room. Fails with a problem that says what is wrong. */
export async function readRequestBody(
  { req, res }: Context,
  route: ApiRoute,
  enter: () => BodyRoom | undefined,
): Promise<Buffer<ArrayBuffer> | undefined> {
  if (!route.body) return undefined;
  const mediaType = req.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') throw new ApiProblem('not-json');
  const bytesMax = route.bodyBytesMax ?? apiBodyBytesMax;
  const room = enter();
  if (!room) throw new ApiProblem('requests-waiting');
  permitBody(req, res, bytesMax);
  const read = await readBody(req, bytesMax, room);
  if (read.ok) return read.body;
  throw new ApiProblem(unreadProblems[read.problem]);
}

const unreadProblems = {
  'too-large': 'body-too-large',
  'too-many-uploads': 'requests-waiting',
  'body-incomplete': 'body-unreadable',
  'body-in-pieces': 'body-unreadable',
} as const;

/** Parses and checks a body. Fails with `body-unreadable`, or with `request-invalid` and its mistakes. */
export function parseBody(bytes: Buffer, route: ApiRoute): unknown {
  const json = parseJsonBody(bytes);
  if (!json) throw new ApiProblem('body-unreadable');
  return checkBody(json.value, route);
}

/** Reads the serial in `If-Match`; undefined if there is none, or for `*`, which matches everything. */
export function readIfMatch({ headers }: IncomingMessage): number | undefined {
  const value = headers['if-match'];
  if (value === undefined || value === '*') return undefined;
  const serial = /^"(\d{1,15})"$/.exec(value)?.[1];
  if (serial === undefined) {
    throw new ApiProblem('serial-moved', { detail: 'If-Match must be one ETag, such as "7"' });
  }
  return Number(serial);
}
