import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { AppliedWebhook } from '../../../schema/applied-state.ts';
import { sortableId, sortableIdRandomBytes } from '../../../schema/ids.ts';
import { ingressUrl } from '../../../schema/ingress-url.ts';
import { didYouMean } from '../../../schema/suggestion.ts';
import type { SignatureDescription } from '../../../signatures/description.ts';
import { describeScheme, schemeIds } from '../../../signatures/scheme.ts';
import { signRequest } from '../../../signatures/sign.ts';
import { unknownWebhook } from '../../backend/find-webhook.ts';
import { type Context, contextOf } from '../../context.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { readSecretValue } from '../../input/read-secret-value.ts';
import { printData, printStatus } from '../../output.ts';
import { printable } from '../../render/printable.ts';

interface SendOptions {
  readonly payload: string;
  readonly to?: string;
  readonly scheme?: string;
  readonly id?: string;
}

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Posts a payload as the webhook's sender would. */
export async function send(name: string | undefined, command: Command): Promise<void> {
  const context = await contextOf(command);
  const options: SendOptions = command.opts();
  const body = await readPayload(options.payload);
  const id = options.id ?? sortableId('msg', Date.now(), randomBytes(sortableIdRandomBytes));
  const { url, headers } =
    name === undefined
      ? await unnamedSender(options, body, id)
      : await senderOf(context, name, options, body, id);

  const response = await post(url, headers, body);
  const text = await response.text();
  const data = { status: response.status, deliveryId: deliveryIdOf(text), body: text };
  printData(context, data, () => `${response.status} ${response.statusText}\n${printable(text.trimEnd())}\n`);
  if (!response.ok) throw new CommandError('');
}

async function senderOf(
  context: Context,
  name: string,
  { to, scheme }: SendOptions,
  body: Buffer,
  id: string,
): Promise<Request> {
  if (scheme) throw new CommandError('--scheme is for a sender without a webhook name', exitStatus.usage);
  const { webhooks } = await context.store.appliedStates.read(context.factory);
  const webhook = webhooks.find(webhook => webhook.name === name || webhook.uid === name);
  if (!webhook) throw unknownWebhook(name, context.factory, webhooks);
  const secret = await secretOf(context, webhook);

  const url = to ?? ingressUrl(context.baseUrl, webhook);
  const identity = webhook.deliveryIdHeader ? { [webhook.deliveryIdHeader]: id } : {};
  if (webhook.authMode === 'url_token') return { url: url.replace('{token}', secret), headers: identity };
  if (webhook.authMode === 'token')
    return { url, headers: { ...identity, Authorization: `Bearer ${secret}` } };
  const description = webhook.signatureScheme && describeScheme(webhook.signatureScheme);
  if (!description) throw new CommandError(`the webhook ${name} has no known signature scheme`);
  return { url, headers: { ...identity, ...signed(description, secret, url, body, id) } };
}

async function unnamedSender({ to, scheme }: SendOptions, body: Buffer, id: string): Promise<Request> {
  if (!to || !scheme) {
    throw new CommandError('without a webhook name, send needs --scheme and --to', exitStatus.usage);
  }
  const description = describeScheme(scheme);
  if (!description) {
    const hint = didYouMean(scheme, schemeIds) ?? '`hookmill schemes list` prints the known ones';
    throw new CommandError(`unknown signature scheme "${scheme}"; ${hint}`, exitStatus.usage);
  }
  const secret = await readSecretValue(`Secret of the ${scheme} sender:`);
  return { url: to, headers: signed(description, secret, to, body, id) };
}

function signed(description: SignatureDescription, secret: string, url: string, body: Buffer, id: string) {
  try {
    return signRequest(description, secret, { body, url, method: 'POST', nowMs: Date.now(), id });
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`the request cannot be signed: ${error.message}`);
    throw error;
  }
}

/** The team secret's present value; it is in force unless it was changed since the last apply. */
async function secretOf(
  { store }: Context,
  { name, secretName, credential }: AppliedWebhook,
): Promise<string> {
  const value = (await store.teamSecrets.open([secretName])).get(secretName)?.value;
  if (!value) throw new CommandError(`the team secret ${secretName} of the webhook ${name} has no value`);
  if (credential.kind === 'unset' || credential.secretVersion !== value.version) {
    printStatus(`The value of ${secretName} is newer than the one in force; hookmill apply takes it up.`);
  }
  return value.text;
}

async function readPayload(path: string): Promise<Buffer> {
  return readFile(resolve(path)).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the payload ${path} cannot be read (${error.code})`, exitStatus.usage);
  });
}

async function post(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: new Uint8Array(body),
      redirect: 'manual',
    });
  } catch (cause) {
    // The URL may hold a token: only its origin is told.
    const origin = URL.canParse(url) ? new URL(url).origin : 'the URL given';
    const reason =
      cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause);
    throw new CommandError(`${origin} does not answer: ${reason}; does hookmill serve run there?`);
  }
}

function deliveryIdOf(text: string): string | null {
  try {
    const { delivery_id } = JSON.parse(text);
    return typeof delivery_id === 'string' ? delivery_id : null;
  } catch {
    return null;
  }
}
