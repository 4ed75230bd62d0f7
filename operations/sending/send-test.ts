import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { parseJsonText, readJson } from '../../json/parse-json-text.ts';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { renderSecretCommand } from '../../schema/clients/secret-command.ts';
import { findFormFormat } from '../../schema/definitions/webhook-definition.ts';
import { collectEventHeaders, encodeHeaderValue } from '../../schema/header-value.ts';
import { type OwnBaseUrl, renderIngressUrl } from '../../schema/ingress-url.ts';
import { listKeptHeaders } from '../../schema/kept-headers.ts';
import { hasSecret } from '../../schema/names.ts';
import { toPayload } from '../../schema/payloads/form-payload.ts';
import { Refusal } from '../../schema/refusal.ts';
import { joinWithAnd } from '../../schema/text/suggestion.ts';
import type { sentTestAnswer } from '../../schema/views/webhooks.ts';
import { splitReason } from '../../signatures/explanation.ts';
import { describeScheme, isCredentialHeader } from '../../signatures/schemes.ts';
import type { LoggedDelivery } from '../../store/ports/delivery-log.ts';
import { credentialOwner } from '../../store/ports/seal.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import { explainNewValue } from '../branch/new-secret-value.ts';
import type { OpenFactory } from '../factory.ts';
import { compileStarts } from '../impact/judge-automations.ts';
import { postDelivery } from './post-delivery.ts';
import { makeBody, type SentBody, type SignedDelivery, signDelivery } from './sign-delivery.ts';
import { makeTestEvent, type TestEvent } from './test-event.ts';

/** @limit Newest rows of a webhook among which the row of a test is looked for: others may arrive at the same time. */
const rowsMax = 50;
/** @limit Time that a test waits for the row of a refused request, in ms: the next commit has it, after the answer. */
const rowMs = 2_000;
/** @limit Time between two looks for that row, in ms. */
const lookAgainMs = 20;

export interface TestDeps {
  readonly factory: OpenFactory;
  readonly ownBaseUrl: OwnBaseUrl;
  /** Finds where the ingress of the daemon listens; null if no daemon answers. */
  readonly findIngress: () => Promise<string | null>;
  /** Begins the entry in the audit log. */
  readonly begin: () => Promise<unknown>;
  /** Lets other operations run while this one waits for the ingress. */
  readonly waitOutside: ReadOutside;
}

interface WantedTest {
  readonly payload?: string | undefined;
  readonly headers?: TestEvent['headers'] | undefined;
  readonly mayStartRuns: boolean;
}

type SentTest = z.output<typeof sentTestAnswer>;

/**
 * Posts a delivery to the real ingress of the daemon, with the credential that the webhook's senders must use now. Fails with
 * `test-impossible` if no credential can be had, with `test-would-start` if the event of its own would start runs and may not,
 * and with `daemon-unreachable`. That the ingress refuses it is an answer.
 */
export async function sendTest(
  deps: TestDeps,
  webhook: AppliedWebhook,
  { mayStartRuns, ...given }: WantedTest,
): Promise<SentTest> {
  const { factory, ownBaseUrl: baseUrl } = deps;
  const event = makeTestEvent(webhook, factory, given);
  const headers = toHeaders(event);
  const body = makeBody(Buffer.from(event.payload), webhook);
  if (!body)
    throw refuse(
      webhook,
      'the payload does not fit into a form: write an object with texts or lists of texts',
    );
  const secret = await openSecret(factory, webhook);
  const sentAtMs = factory.now().getTime();
  const signed = sign(webhook, secret, baseUrl, body, event, sentAtMs);
  headers.set('Content-Type', body.contentType);
  headers.set('User-Agent', userAgent);
  for (const [name, value] of signed.headers) headers.set(name, value);
  if (given.payload === undefined && !mayStartRuns) await requireNoStart(factory, webhook, body, headers);
  const listensAt = await deps.findIngress();
  if (listensAt === null)
    throw new Refusal('daemon-unreachable', { detail: 'no daemon answers; start one with `hookmill serve`' });
  await deps.begin();
  const target = signed.url.slice(baseUrl.length);
  return deps.waitOutside(async () => {
    const startedMs = performance.now();
    const { status, text } = await postDelivery({
      listensAt,
      url: baseUrl,
      target,
      headers,
      body: body.bytes,
    });
    const tookMs = Math.round((performance.now() - startedMs) * 10) / 10;
    const sent = { sentAtMs, size: body.bytes.length, id: event.id };
    const row = await findRow(factory, webhook, sent, { status, text });
    const { outcome = null, id: deliveryId = null } = row ?? {};
    const runs = row?.outcome === 'Accepted' ? await countRuns(factory, row.id) : 0;
    return { status, outcome, deliveryId, ...explain(webhook, row, { status, text }), runs, tookMs };
  });
}

/** Every test has it, whatever its payload is. It is an event header of every webhook. */
const userAgent = 'hookmill-test';

function refuse({ name }: AppliedWebhook, why: string): Refusal {
  return new Refusal('test-impossible', { detail: `no test can be sent to the webhook ${name}: ${why}` });
}

/** Fails with `request-invalid` if a header is a credential, which only the webhook's own may be, or is none. */
function toHeaders({ headers }: TestEvent): Headers {
  const wrong = Object.keys(headers).find(name => isCredentialHeader(name) || ownHeaders.test(name));
  if (wrong !== undefined) {
    const detail = `the header ${wrong} cannot be set: hookmill sets what authenticates and frames a test`;
    throw new Refusal('request-invalid', { detail });
  }
  try {
    return new Headers(Object.entries(headers).map(([name, value]) => [name, encodeHeaderValue(value)]));
  } catch (cause) {
    const detail = 'a header has a name or a value that HTTP does not allow';
    throw new Refusal('request-invalid', { detail }, { cause });
  }
}

const ownHeaders = /^(?:host|content-length|transfer-encoding|connection|expect|upgrade|te|trailer)$/i;

/** Opens the credential in force: what the daemon verifies with, which the team secret may no longer be. */
async function openSecret(factory: OpenFactory, webhook: AppliedWebhook): Promise<string> {
  const { name, store } = factory;
  const { credential, uid } = webhook;
  if (!hasSecret(webhook)) {
    const remedy = `let a job of its issuer send with \`hookmill send ${webhook.name} --oidc\``;
    throw refuse(webhook, `hookmill has no token of its issuer; ${remedy}`);
  }
  const { secretName } = webhook;
  if (credential.kind === 'sealed') return store.seal.open(credential.jwe, credentialOwner(name, uid));
  const secret = (await store.teamSecrets.open([secretName], name)).get(secretName);
  if (secret?.unresolved) throw refuse(webhook, `${secret.unresolved.message}; ${secret.unresolved.hint}`);
  const text = secret?.value?.text;
  if (text === undefined)
    throw refuse(
      webhook,
      `the team secret ${secretName} has no value; set it with \`${renderSecretCommand(webhook)}\``,
    );
  const isInForce =
    credential.kind === 'digest' && createHash('sha256').update(text).digest('hex') === credential.sha256;
  if (isInForce) return text;
  const newer = `the team secret ${secretName} has a newer value than the webhook uses`;
  throw refuse(webhook, `${newer}. ${await explainNewValue(factory)}`);
}

function sign(
  webhook: AppliedWebhook,
  secret: string,
  baseUrl: OwnBaseUrl,
  body: SentBody,
  { id }: TestEvent,
  nowMs: number,
): SignedDelivery {
  const url = renderIngressUrl(baseUrl, webhook);
  const event = { body: body.bytes, id, isIdGiven: true };
  try {
    return signDelivery(webhook, secret, { url, body }, event, nowMs);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const { signatureScheme } = webhook;
    const primitive = signatureScheme && describeScheme(signatureScheme)?.primitive;
    const isPublic = primitive === 'ed25519' || primitive === 'ecdsa-p256' || /^whpk_/.test(secret);
    throw refuse(
      webhook,
      isPublic
        ? 'its team secret is the public key of the sender, who alone can sign; let the sender send a test'
        : cause.message,
    );
  }
}

/** Fails with `test-would-start` if an enabled automation would start a run for the event. */
async function requireNoStart(
  factory: OpenFactory,
  webhook: AppliedWebhook,
  { bytes }: SentBody,
  headers: Headers,
): Promise<void> {
  const { automations } = await factory.readState();
  const payload = parseJsonText(Buffer.from(toPayload(bytes, findFormFormat(webhook))).toString());
  const kept = collectEventHeaders(
    Object.fromEntries(headers),
    listKeptHeaders(webhook).map(name => name.toLowerCase()),
  );
  const started = webhook.enabled ? compileStarts(automations, webhook.uid)(payload, kept) : [];
  if (started.length === 0) return;
  const detail = `the test event would start runs of ${joinWithAnd(started)}; if it may, send it with mayStartRuns (--may-start-runs)`;
  throw new Refusal('test-would-start', { detail });
}

interface SentRequest {
  readonly sentAtMs: number;
  /** Bytes of the body. */
  readonly size: number;
  readonly id: string;
}

/**
 * Finds the row of a request in the delivery log; undefined if it has none. The answer names the row of an accepted delivery, or the
 * one that it duplicates. The row of a refused request is found by its time and size, unless another request has the same.
 */
async function findRow(
  { name: factory, store: { deliveries } }: OpenFactory,
  { uid }: AppliedWebhook,
  { sentAtMs, size, id }: SentRequest,
  { status, text }: { readonly status: number; readonly text: string },
): Promise<LoggedDelivery | undefined> {
  const named = readText(text, 'delivery_id');
  const isLogged = status < 300 || [400, 401, 413].includes(status);
  const untilMs = performance.now() + rowMs;
  for (;;) {
    const newest = await deliveries.listDeliveries({ factory, uid, limit: rowsMax });
    const own = newest.find(
      row => row.identity === id || (named !== undefined && [row.id, row.duplicateOf].includes(named)),
    );
    const [only, ...others] = newest.filter(
      row => row.identity === undefined && row.atMs >= sentAtMs && row.size === size,
    );
    const row = own ?? (others.length === 0 ? only : undefined);
    if (row || !isLogged || performance.now() >= untilMs) return row;
    await sleep(lookAgainMs);
  }
}

function readText(json: string, key: string): string | undefined {
  const read = readJson(json);
  const value: unknown = typeof read === 'object' && read !== null ? Reflect.get(read, key) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Explains an answer by the row of its request, or else by itself. */
function explain(
  { enabled, name }: AppliedWebhook,
  row: LoggedDelivery | undefined,
  { status, text }: { readonly status: number; readonly text: string },
): Pick<SentTest, 'reason' | 'remedy'> {
  if (row?.reason !== undefined) {
    const { cause: reason, remedy = null } = splitReason(row.reason);
    return { reason, remedy };
  }
  if (status < 300) return { reason: null, remedy: null };
  if (status === 404 && !enabled)
    return { reason: `the webhook ${name} is disabled, so its URL answers 404`, remedy: 'Enable it' };
  return { reason: readText(text, 'detail') ?? `the ingress answered ${status}`, remedy: null };
}

async function countRuns({ store: { deliveries } }: OpenFactory, deliveryId: string): Promise<number> {
  return (await deliveries.listRunsOfDelivery(deliveryId)).length;
}
