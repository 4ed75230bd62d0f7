import http, { type OutgoingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import { BoundedResponse } from '../http/bounded-response.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';

/** How the ingress answers a request. */
export type IngressOutcome =
  | {
      readonly result: 'accepted' | 'duplicate';
      readonly webhook: ServedWebhook;
      readonly deliveryId: string;
    }
  | {
      readonly result: 'handshake';
      readonly webhook: ServedWebhook;
      readonly handshake: HandshakeAnswer;
      /** ID of the row in the delivery log, if the handshake has one. */
      readonly deliveryId?: string;
    }
  | {
      readonly result: 'refused';
      readonly webhook?: ServedWebhook;
      readonly problem: ProblemCode;
      readonly retryAfterSeconds?: number;
      /** ID of the row in the delivery log, if the refusal has one. */
      readonly deliveryId?: string;
      readonly cause?: unknown;
    };

interface AnswerSettings {
  /** The rate limit of a webhook, in deliveries per minute. */
  readonly findRate: (webhook: ServedWebhook) => number;
  readonly renderProblem: RenderProblem;
}

/** Writes the answer to a request. */
export function answer(
  context: Context,
  outcome: IngressOutcome,
  { renderProblem, findRate }: AnswerSettings,
): void {
  switch (outcome.result) {
    case 'accepted':
    case 'duplicate':
      answerSuccess(context, outcome.webhook.success, outcome.deliveryId);
      return;
    case 'handshake': {
      const { status, headers, body, rateHeader } = outcome.handshake;
      const rate = rateHeader === undefined ? {} : { [rateHeader]: String(findRate(outcome.webhook)) };
      send(context, status, { ...headers, ...rate }, status === 204 ? undefined : body);
      return;
    }
    case 'refused':
      answerRefusal(context, outcome, { renderProblem, findRate });
  }
}

function answerSuccess(
  context: Context,
  { status, isEmpty }: ServedWebhook['success'],
  deliveryId: string,
): void {
  if (isEmpty) send(context, status, {}, '');
  else send(context, status, jsonHeaders, `{"delivery_id":"${deliveryId}"}\n`);
}

const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/** Writes to the response of node: the setters of Koa's take a fifth of a request's time. */
function send(context: Context, status: number, headers: OutgoingHttpHeaders, body?: string): void {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  context.res.writeHead(status, { ...headers, ...length });
  context.respond = false;
  context.res.end(body);
}

function answerRefusal(
  context: Context,
  { webhook, problem, retryAfterSeconds }: IngressOutcome & { result: 'refused' },
  { renderProblem, findRate }: AnswerSettings,
): void {
  const { status, body } = renderProblem(problem, retryAfterSeconds, webhook && findRate(webhook));
  const headers: OutgoingHttpHeaders = { 'Content-Type': 'application/problem+json' };
  if (status === 405) headers.Allow = 'POST';
  if (status === 401 && webhook) headers['WWW-Authenticate'] = webhook.authenticator.challenge;
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  const isClosed = status === 413 || problem === 'too-many-uploads' || problem === 'body-in-pieces';
  if (isClosed) headers.Connection = 'close';
  // An address that failed too often was answered before, and may lose this answer.
  if (problem === 'too-many-failures' && context.res instanceof BoundedResponse) context.res.lingerBytes = 0;
  send(context, status, headers, body);
}

/** Status and text of each problem (RFC 9457) with which the ingress refuses a request. The sender sees the text. */
const problems = {
  'not-found': { status: 404, detail: 'There is no webhook at this URL.' },
  'method-not-allowed': { status: 405, detail: 'Send deliveries with POST.' },
  unauthorized: { status: 401, detail: 'The request does not contain a valid credential for this webhook.' },
  'too-large': { status: 413, detail: 'The body is larger than this webhook accepts.' },
  'invalid-json': { status: 400, detail: 'The body is not valid JSON in UTF-8.' },
  'body-compressed': {
    status: 400,
    detail: 'The body is compressed. Send it as it is, without Content-Encoding.',
  },
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

/** The limit is in the text of a problem that has a wait. */
type RenderProblem = (code: ProblemCode, retryAfterSeconds?: number, limit?: number) => Problem;

/** Creates the renderer of problems. Problems without a wait never change, so it renders them in advance. */
export function createProblemRenderer(): RenderProblem {
  const render = (code: ProblemCode, advice = '', limit = 0): Problem => {
    const { status, detail: template } = problems[code];
    const detail = template.replace('{limit}', String(limit)) + advice;
    const body = { type: 'about:blank', title: http.STATUS_CODES[status], status, detail };
    return { status, body: `${JSON.stringify(body)}\n` };
  };
  const codes = Object.keys(problems) as ProblemCode[];
  const rendered = Object.fromEntries(codes.map(code => [code, render(code)])) as Record<
    ProblemCode,
    Problem
  >;
  return (code, retryAfterSeconds, limit) =>
    retryAfterSeconds === undefined
      ? rendered[code]
      : render(code, ` Retry after ${retryAfterSeconds} s.`, limit);
}
