import type { Command } from 'commander';
import { z } from 'zod';
import { problemAnswer } from '../../schema/api/answers.ts';
import { ApiProblem, type ApiProblemCode, apiProblems } from '../../schema/api/problems.ts';
import { type ApiAnswer, type ApiRoute, apiPrefix } from '../../schema/api/route.ts';
import { type ApiRoutes, apiRoutes, type OperationId } from '../../schema/api/routes.ts';
import { Refusal, type RefusalCode, refusals } from '../../schema/refusal.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** @limit Time for which a command waits for a server's answer, in ms: an apply may itself wait for a lock. */
const serverRequestMs = 30_000;

/** A daemon's management API, and the token to use it with. */
export interface Server {
  readonly url: string;
  readonly token: string;
}

/** The server that `--server` or HOOKMILL_SERVER names, if one is. */
export function serverOf(command: Command): Server | undefined {
  const { server } = command.optsWithGlobals<GlobalOptions>();
  if (!server) return undefined;
  if (!isSafe(server)) {
    const rule =
      'a server is named as https://host, or http:// on this machine: a token is not sent in the clear';
    throw new CommandError(rule, exitStatus.usage);
  }
  const token = process.env.HOOKMILL_TOKEN?.trim();
  if (token) return { url: server.replace(/\/+$/, ''), token };
  throw new CommandError('a server needs an API token in HOOKMILL_TOKEN', exitStatus.usage);
}

function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username + password + search + hash !== '') return false;
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
  );
}

export interface ServerCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly ifSerial?: number;
}

/** Calls an operation and gives its answer, checked. Fails with the ApiProblem that it answers, or a CommandError. */
export async function callServer<Id extends OperationId>(
  server: Server,
  id: Id,
  call: ServerCall,
): Promise<ApiAnswer<ApiRoutes[Id], Uint8Array>> {
  const route: ApiRoute = apiRoutes[id];
  const response = await request(server, route, call);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw problemOf(server, response.status, bytes);
  if (!route.answer.shape) return bytes as ApiAnswer<ApiRoutes[Id], Uint8Array>;
  const answer = route.answer.shape.safeParse(parse(bytes));
  if (answer.success) return answer.data as ApiAnswer<ApiRoutes[Id], Uint8Array>;
  throw new CommandError(`${server.url} answers what this hookmill does not understand: use its version`);
}

async function request({ url, token }: Server, route: ApiRoute, call: ServerCall): Promise<Response> {
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
      // The token is for this server alone.
      redirect: 'error',
      signal: AbortSignal.timeout(serverRequestMs),
    });
  } catch (cause) {
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const reason = inner instanceof Error ? inner.message : String(inner);
    throw new CommandError(`${url} does not answer: ${reason}`);
  }
}

function problemOf({ url }: Server, status: number, bytes: Uint8Array): Error {
  const problem = z.looseObject(problemAnswer.shape).safeParse(parse(bytes));
  if (!problem.success || !isKnown(problem.data.code)) {
    return new CommandError(`${url} answers ${status}, and not as a hookmill daemon does`);
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

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}
