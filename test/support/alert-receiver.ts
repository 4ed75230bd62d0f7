import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startLoopbackServer } from './loopback-server.ts';

/** A receiver of alerts that accepts only what verifies by the rules of Standard Webhooks, with nothing of hookmill. */
export interface AlertReceiver {
  readonly url: string;
  /** What it accepted, in order. */
  readonly alerts: readonly ReceivedAlert[];
  /** The IDs of the requests that it answered with something else. */
  readonly refused: readonly string[];
  /** Answers with this status instead; undefined: verifies again. */
  answerWith(status: number | undefined): void;
}

export interface ReceivedAlert {
  readonly messageId: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Starts a receiver, by default for the test. The secret starts with `whsec_`. */
export async function startAlertReceiver(
  secret: string,
  onEnd?: (end: () => void) => void,
): Promise<AlertReceiver> {
  const alerts: ReceivedAlert[] = [];
  const refused: string[] = [];
  let status: number | undefined;
  const origin = await startLoopbackServer(async (request, response) => {
    const body = await buffer(request);
    const messageId = String(request.headers['webhook-id']);
    const answer = status ?? (verifies(request.headers, body, secret) ? 204 : 401);
    if (answer === 204) alerts.push({ messageId, ...JSON.parse(body.toString()) });
    else refused.push(messageId);
    response.writeHead(answer).end();
  }, onEnd);
  const answerWith = (given: number | undefined) => {
    status = given;
  };
  return { url: `${origin}/alerts`, alerts, refused, answerWith };
}

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, without the age.
function verifies(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return String(signatures)
    .split(' ')
    .some(signature => {
      const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
      return given.length === mac.length && timingSafeEqual(given, mac);
    });
}
