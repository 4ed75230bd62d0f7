import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readJson } from '../../json/parse-json-text.ts';
import { ApiProblem, type ApiProblemCode, apiProblems } from '../../schema/api/problems.ts';
import { type ApiAnswer, type ApiRoute, apiPrefix } from '../../schema/api/route.ts';
import { type ApiRoutes, apiRoutes, type OperationId } from '../../schema/api/routes.ts';
import { Refusal, type RefusalCode, refusals } from '../../schema/refusal.ts';
import { problemAnswer } from '../../schema/views/problem-answer.ts';
import { findReason } from '../describe-error.ts';
import { CommandError, UnreachableError } from '../exit-status.ts';
import type { Server } from './server-address.ts';

/** @limit Time that a command waits for a server's answer, in ms: an apply may itself wait for a lock. */
const serverRequestMs = 30_000;

/** @limit Longest wait that a server may ask a command for with 429 and `Retry-After`, in seconds: the limits of the management API are per minute. */
const retryAfterSecondsMax = 60;
/** @limit Times that a command repeats a request for which a server asked it to wait, before it fails. */
const repeatsMax = 5;

interface ServerCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly ifSerial?: number;
}

/**
 * Calls an operation and returns its checked answer. Fails with the Refusal or ApiProblem in the answer, or with a
 * CommandError.
 */
export async function callServer<Id extends OperationId>(
  server: Server,
  id: Id,
  call: ServerCall,
): Promise<ApiAnswer<ApiRoutes[Id], Uint8Array>> {
  const route: ApiRoute = apiRoutes[id];
  const response = await sendUntilTaken(server, route, call);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw toError(server, response.status, bytes);
  if (response.status === 204) return undefined as ApiAnswer<ApiRoutes[Id], Uint8Array>;
  if (!route.answer.shape) return bytes as ApiAnswer<ApiRoutes[Id], Uint8Array>;
  const answer = route.answer.shape.safeParse(readJson(Buffer.from(bytes).toString('utf8')));
  if (answer.success) return answer.data as ApiAnswer<ApiRoutes[Id], Uint8Array>;
  throw new CommandError(
    `${server.url} sent an answer that this version of hookmill does not know; use the server's version`,
  );
}

/** Sends a request, and again after the wait that the server asks for with 429: it has done nothing then. */
async function sendUntilTaken(server: Server, route: ApiRoute, call: ServerCall): Promise<Response> {
  for (let repeats = 0; ; repeats++) {
    const response = await sendRequest(server, route, call);
    const wait = response.status === 429 ? response.headers.get('retry-after') : null;
    const isShort = wait !== null && /^\d{1,2}$/.test(wait) && Number(wait) <= retryAfterSecondsMax;
    if (!isShort || repeats === repeatsMax) return response;
    await response.body?.cancel();
    await delay(Number(wait) * 1_000);
  }
}

async function sendRequest({ url, getToken }: Server, route: ApiRoute, call: ServerCall): Promise<Response> {
  const token = await getToken();
  const { params, query = {}, body, ifSerial } = call;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) given.set(key, value);
  const search = given.toString();
  try {
    return await fetch(`${url}${apiPrefix}${path}${search && `?${search}`}`, {
      method: route.method.toUpperCase(),
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(ifSerial !== undefined && { 'If-Match': `"${ifSerial}"` }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      // Follows no redirect, so that the token reaches only this server.
      redirect: 'error',
      signal: AbortSignal.timeout(serverRequestMs),
    });
  } catch (cause) {
    throw new UnreachableError(`${url} does not answer: ${findReason(cause)}`);
  }
}

function toError({ url }: Server, status: number, bytes: Uint8Array): Error {
  const problem = z.looseObject(problemAnswer.shape).safeParse(readJson(Buffer.from(bytes).toString('utf8')));
  if (!problem.success || !isKnown(problem.data.code)) {
    const message = `${url} answered ${status}, but is not a hookmill daemon; check --server`;
    // A proxy answers so while the daemon restarts.
    return status >= 500 ? new UnreachableError(message) : new CommandError(message);
  }
  const { code, title, detail, mistakes, diagnostics, instead } = problem.data;
  const parts = { detail: detail ?? title, mistakes, diagnostics, instead };
  return isRefusal(code) ? new Refusal(code, parts) : new ApiProblem(code, parts);
}

function isRefusal(code: ApiProblemCode): code is RefusalCode {
  return Object.hasOwn(refusals, code);
}

function isKnown(code: string): code is ApiProblemCode {
  return Object.hasOwn(apiProblems, code);
}
