import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { ApiProblem, type ApiProblemCode, apiProblems, tokenProblems } from '../../../schema/api/problems.ts';
import type { OperationId } from '../../../schema/api/routes.ts';
import { Refusal } from '../../../schema/refusal.ts';
import { DeliveryLogError, StoreError, type StoreErrorCode } from '../../../store/ports/store-error.ts';
import { WindowCounter } from '../../http/window-counter.ts';
import type { Caller } from '../guards/caller.ts';

/** @limit Wait that the management API asks for with `Retry-After`, in seconds: a person waits that long. */
const passingSeconds = 2;
/** The problems that pass by themselves. */
const passing: readonly ApiProblemCode[] = [
  'requests-waiting',
  'locked',
  'log-busy',
  'store-unreachable',
  'provider-unreachable',
  'issuer-keys-missing',
];

/** The refusals that say that somebody may be trying to get in. A page without a session is no such sign. */
const suspicious: readonly ApiProblemCode[] = [
  ...tokenProblems,
  ...(['sign-in-refused', 'too-many-attempts', 'too-many-requests'] as const),
  ...(['not-permitted', 'cross-site', 'host-refused', 'metrics-refused'] as const),
];
/** @limit Refusals per minute that get a line in the log, of a client address, or of a known caller for each operation: the metric counts the others. */
const refusalsLogged = 10;
/** @limit Refusals per minute that get a line in the log, of all unknown addresses together, or of one known caller: a flood must not fill the log. */
const refusalsLoggedTotal = 100;

/** What is known of a request by the time when it is refused. */
export interface RequestState {
  readonly operation?: OperationId;
  readonly caller?: Caller;
}

export interface ProblemDeps {
  readonly log: Logger;
  /** Counts an answer. */
  readonly observe: (result: ApiProblemCode | 'answered') => void;
  readonly readClientAddress: (request: IncomingMessage) => string;
  readonly monotonicMs: () => number;
}

/**
 * Answers thrown errors with a problem (RFC 9457), and counts each answer. The details of an unexpected error appear only
 * in the log, which also gets a sample of the refusals of those who may not do what they ask.
 */
export function answerProblems({ log, observe, readClientAddress, monotonicMs }: ProblemDeps): Middleware {
  const logged = new WindowCounter(monotonicMs);
  const logRefusal = (context: Context, code: ApiProblemCode) => {
    const from = readClientAddress(context.req);
    const { operation, caller } = context.state as RequestState;
    // So that the noise of an address hides no refusal of a known caller, nor one operation's refusals those of another.
    const [group, all] = caller ? [`${caller.sha256} ${operation}`, caller.sha256] : [from, ''];
    if (logged.count(group).count > refusalsLogged || logged.count(all).count > refusalsLoggedTotal) return;
    const { factory } = (context.params ?? {}) as { readonly factory?: string };
    const who = caller && { [caller.kind]: caller.name, subject: caller.subject };
    log.warn({ code, operation, factory, ...who, from }, 'a management request was refused');
  };
  return async (context, next) => {
    try {
      await next();
      observe('answered');
    } catch (error) {
      const problem = toProblem(error);
      const { code } = problem;
      observe(code);
      if (apiProblems[code].status >= 500) log.error({ err: error, code }, 'a management request failed');
      if (suspicious.includes(code)) logRefusal(context, code);
      answerProblem(context, problem);
    }
  };
}

function answerProblem(context: Context, { code, parts, retryAfterSeconds }: ApiProblem): void {
  const { status, title } = apiProblems[code];
  context.status = status;
  context.body = JSON.stringify({ type: 'about:blank', title, status, code, ...parts });
  context.set('Content-Type', 'application/problem+json');
  const waitSeconds = passing.includes(code) ? passingSeconds : retryAfterSeconds;
  if (waitSeconds !== undefined) context.set('Retry-After', String(waitSeconds));
  if (status === 401) context.set('WWW-Authenticate', 'Bearer');
}

/** Converts what an operation throws. An error without a code is a defect, and its details are for the log only. */
export function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const cause = { cause: error };
  if (error instanceof Refusal) return new ApiProblem(error.code, error.parts, cause);
  if (error instanceof DeliveryLogError) return new ApiProblem('log-busy', {}, cause);
  if (!(error instanceof StoreError)) return new ApiProblem('unexpected', {}, cause);
  if (error.code === 'secret-invalid') {
    const mistake = { pointer: '/value', code: 'definition/value', message: error.message };
    return new ApiProblem('request-invalid', { mistakes: [mistake] }, cause);
  }
  return new ApiProblem(storeProblems[error.code] ?? 'state-unreadable', {}, cause);
}

const storeProblems: Partial<Record<StoreErrorCode, 'locked' | 'serial-moved' | 'store-unreachable'>> = {
  locked: 'locked',
  unreachable: 'store-unreachable',
  'serial-moved': 'serial-moved',
};
