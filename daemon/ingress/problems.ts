import { STATUS_CODES } from 'node:http';

/** Each way in which the ingress refuses a request: its status and what the sender is told (RFC 9457). */
const problems = {
  'not-found': { status: 404, detail: 'There is no webhook at this URL.' },
  'method-not-allowed': { status: 405, detail: 'Deliveries are sent with POST.' },
  unauthorized: { status: 401, detail: 'The request does not carry a valid credential for this webhook.' },
  'too-large': { status: 413, detail: 'The body is larger than this webhook accepts.' },
  'invalid-json': { status: 400, detail: 'The body is not valid JSON in UTF-8.' },
  'body-incomplete': { status: 400, detail: 'The body ended before it was complete.' },
  'too-many-deliveries': { status: 429, detail: 'This webhook has had its deliveries of this minute.' },
  'too-many-failures': { status: 429, detail: 'Too many requests failed to authenticate.' },
  unavailable: { status: 503, detail: 'The delivery could not be recorded. Send it again.' },
} as const;

export type ProblemCode = keyof typeof problems;

export interface Problem {
  readonly status: number;
  /** The whole body, made once; ASCII. A string, because node sends one with the headers in a single write. */
  readonly body: string;
}

export const problemBodies: Readonly<Record<ProblemCode, Problem>> = makeBodies();

function makeBodies(): Record<ProblemCode, Problem> {
  const bodies = Object.entries(problems).map(([code, { status, detail }]) => {
    const body = { type: 'about:blank', title: STATUS_CODES[status], status, detail };
    return [code, { status, body: `${JSON.stringify(body)}\n` }];
  });
  return Object.fromEntries(bodies);
}
