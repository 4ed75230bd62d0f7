import http from 'node:http';
import type { BudgetLimits } from './budgets.ts';

/** Status and text of each problem (RFC 9457) with which the ingress refuses a request. The sender sees the text. */
const problems = {
  'not-found': { status: 404, detail: 'There is no webhook at this URL.' },
  'method-not-allowed': { status: 405, detail: 'Send deliveries with POST.' },
  unauthorized: { status: 401, detail: 'The request does not contain a valid credential for this webhook.' },
  'too-large': { status: 413, detail: 'The body is larger than this webhook accepts.' },
  'invalid-json': { status: 400, detail: 'The body is not valid JSON in UTF-8.' },
  'body-incomplete': { status: 400, detail: 'The body ended before it was complete.' },
  'body-in-pieces': { status: 400, detail: 'The body arrived in too many tiny pieces.' },
  'too-many-uploads': { status: 429, detail: 'Too many uploads from this address are in progress.' },
  'too-many-deliveries': { status: 429, detail: 'Rate limit reached: {limit} deliveries per minute.' },
  'too-many-failures': { status: 429, detail: 'Too many requests failed to authenticate.' },
  'not-served': { status: 503, detail: 'Deliveries to this URL cannot be received now.' },
  'no-issuer-keys': { status: 503, detail: 'The token cannot be verified now.' },
  unavailable: { status: 503, detail: 'The delivery could not be recorded.' },
} as const;

export type ProblemCode = keyof typeof problems;

export interface Problem {
  readonly status: number;
  /** The whole body, in ASCII. It is a string because node then writes it together with the headers. */
  readonly body: string;
}

export type RenderProblem = (code: ProblemCode, retryAfterSeconds?: number) => Problem;

/** Creates the renderer of problems. Problems without a wait never change, so it renders them in advance. */
export function createProblemRenderer({
  deliveriesPerMinute,
}: Pick<BudgetLimits, 'deliveriesPerMinute'>): RenderProblem {
  const render = (code: ProblemCode, advice = ''): Problem => {
    const { status, detail: template } = problems[code];
    const detail = template.replace('{limit}', String(deliveriesPerMinute)) + advice;
    const body = { type: 'about:blank', title: http.STATUS_CODES[status], status, detail };
    return { status, body: `${JSON.stringify(body)}\n` };
  };
  const codes = Object.keys(problems) as ProblemCode[];
  const rendered = Object.fromEntries(codes.map(code => [code, render(code)])) as Record<
    ProblemCode,
    Problem
  >;
  return (code, retryAfterSeconds) =>
    retryAfterSeconds === undefined ? rendered[code] : render(code, ` Retry after ${retryAfterSeconds} s.`);
}
