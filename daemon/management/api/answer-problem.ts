import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { ApiProblem, type ApiProblemCode, apiProblems } from '../../../schema/api/problems.ts';
import { Refusal } from '../../../schema/refusal.ts';
import { DeliveryLogError } from '../../../store/delivery-log-error.ts';
import { StoreError, type StoreErrorCode } from '../../../store/store-error.ts';

/** @limit Wait that the management API asks for with `Retry-After`, in seconds: a person waits that long. */
const retryAfterSeconds = 2;
/** The problems that pass by themselves. */
const passing: readonly ApiProblemCode[] = [
  'locked',
  'log-busy',
  'store-unreachable',
  'provider-unreachable',
];

/** Answers thrown errors with a problem (RFC 9457). The details of an unexpected error appear only in the log. */
export function answerProblems(log: Logger): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const problem = toProblem(error);
      const { status } = apiProblems[problem.code];
      if (status >= 500) log.error({ err: error, code: problem.code }, 'a management request failed');
      answerProblem(context, problem);
    }
  };
}

function answerProblem(context: Context, { code, parts }: ApiProblem): void {
  const { status, title } = apiProblems[code];
  context.status = status;
  context.body = JSON.stringify({ type: 'about:blank', title, status, code, ...parts });
  context.set('Content-Type', 'application/problem+json');
  if (passing.includes(code)) context.set('Retry-After', String(retryAfterSeconds));
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
