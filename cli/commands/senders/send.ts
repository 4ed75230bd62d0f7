import type { Command } from 'commander';
import type { AppliedWebhook } from '../../../schema/applied-state.ts';
import { createSortableId, sortableIdRandomBytes } from '../../../schema/ids.ts';
import { renderIngressUrl } from '../../../schema/ingress-url.ts';
import type { SignatureDescription } from '../../../signatures/description.ts';
import { findWebhook } from '../../backend/find-by-name.ts';
import { type Context, openContext } from '../../context.ts';
import { CommandError, UsageError } from '../../exit-status.ts';
import { readInputFile } from '../../input/read-input-file.ts';
import { readSecretValue } from '../../input/read-secret-value.ts';
import { printData, printStatus } from '../../output.ts';
import { describeUnknownScheme } from '../../render/describe-unknown-scheme.ts';
import { printable } from '../../render/printable.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill send`. */
export function declareSend(parent: Command): Command {
  return addCommand(
    parent,
    'send',
    'sign a payload as the sender of a webhook would, and post it',
    `
For an applied webhook, the credential comes from its team secret. For any other receiver, use --scheme and --to, and
give the secret on standard input or at a prompt. If the scheme uses a public key, the secret is the private key as
PKCS #8 PEM, or a key of Standard Webhooks that starts with whsk_.

Examples:
  hookmill send deploys --payload deploy.json
  hookmill send --scheme stripe --to https://hooks.example.com/webhooks/w/wh_… --payload event.json < secret.txt`,
  )
    .argument('[webhook]', 'name or UID of an applied webhook')
    .requiredOption('--payload <file>', 'request body, sent byte for byte')
    .option('--to <url>', 'URL to post to (default: the ingress URL of the webhook)')
    .option('--scheme <id>', 'signature scheme, if no webhook is named')
    .option('--id <id>', 'ID of the delivery, for schemes and headers that have one (default: a new one)')
    .action(async (name: string | undefined, options: SendOptions, command: Command) =>
      send(name, options, await openContext(command)),
    );
}

interface SendOptions {
  readonly payload: string;
  readonly to?: string;
  readonly scheme?: string;
  readonly id?: string;
}

interface SignedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function send(name: string | undefined, options: SendOptions, context: Context): Promise<void> {
  const body = await readInputFile(options.payload, 'the payload');
  const id =
    options.id ??
    createSortableId('msg', Date.now(), crypto.getRandomValues(new Uint8Array(sortableIdRandomBytes)));
  const request =
    name === undefined
      ? await signByScheme(options, body, id)
      : await signForWebhook(context, name, options, body, id);

  const response = await post(request, body);
  const text = await response.text();
  const data = { status: response.status, deliveryId: findDeliveryId(text), body: text };
  printData(
    context.output,
    data,
    () => `${response.status} ${response.statusText}\n${printable(text.trimEnd())}\n`,
  );
  if (!response.ok) throw new CommandError('');
}

async function signForWebhook(
  context: Context,
  name: string,
  { to, scheme }: SendOptions,
  body: Buffer,
  id: string,
): Promise<SignedRequest> {
  if (scheme) throw new UsageError('--scheme cannot be combined with the name of a webhook');
  const { webhooks } = await context.store.appliedStates.read(context.factory);
  const webhook = findWebhook(name, context.factory, webhooks);
  if (to === undefined) requireOwnBaseUrl(context);
  const secret = await openSecret(context, webhook);

  const url = to ?? renderIngressUrl(context.baseUrl, webhook);
  const identity = webhook.deliveryIdHeader ? { [webhook.deliveryIdHeader]: id } : {};
  if (webhook.authMode === 'url_token') return { url: url.replace('{token}', secret), headers: identity };
  if (webhook.authMode === 'token')
    return { url, headers: { ...identity, Authorization: `Bearer ${secret}` } };
  const { describeScheme } = await import('../../../signatures/schemes.ts');
  const description = webhook.signatureScheme && describeScheme(webhook.signatureScheme);
  if (!description) throw new CommandError(`the webhook ${name} has no known signature scheme`);
  return { url, headers: { ...identity, ...(await sign(description, secret, url, body, id)) } };
}

/** Whoever writes hookmill.yaml could have the credential sent to a server of theirs. */
function requireOwnBaseUrl({ baseUrl, isOwnBaseUrl }: Context): void {
  if (isOwnBaseUrl) return;
  const remedy = `if it is yours, set HOOKMILL_BASE_URL=${baseUrl}`;
  throw new CommandError(
    `the credential is not sent to ${baseUrl}, which only hookmill.yaml names; ${remedy}`,
  );
}

async function signByScheme({ to, scheme }: SendOptions, body: Buffer, id: string): Promise<SignedRequest> {
  if (!to || !scheme) throw new UsageError('--scheme and --to are required without the name of a webhook');
  const { describeScheme, schemeIds } = await import('../../../signatures/schemes.ts');
  const description = describeScheme(scheme);
  if (!description) throw new UsageError(describeUnknownScheme(scheme, schemeIds));
  const secret = await readSecretValue(`Secret of the ${scheme} sender:`);
  return { url: to, headers: await sign(description, secret, to, body, id) };
}

async function sign(
  description: SignatureDescription,
  secret: string,
  url: string,
  body: Buffer,
  id: string,
): Promise<Readonly<Record<string, string>>> {
  const { signRequest } = await import('../../../signatures/sign.ts');
  try {
    return signRequest(description, secret, { body, url, method: 'POST', nowMs: Date.now(), id });
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`the request cannot be signed: ${error.message}`);
    throw error;
  }
}

/** Opens the current value of the team secret. Warns if it changed since the last apply. */
async function openSecret(
  { store }: Context,
  { name, secretName, credential }: AppliedWebhook,
): Promise<string> {
  const value = (await store.teamSecrets.open([secretName])).get(secretName)?.value;
  if (!value) throw new CommandError(`the team secret ${secretName} of the webhook ${name} has no value`);
  if (credential.kind === 'unset' || credential.secretVersion !== value.version) {
    printStatus(
      `${secretName} has changed since the last apply. Run \`hookmill apply\` to use the new value.`,
    );
  }
  return value.text;
}

async function post({ url, headers }: SignedRequest, body: Buffer): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: new Uint8Array(body),
      redirect: 'manual',
    });
  } catch (cause) {
    // The URL may contain a token, so the message shows only its origin.
    const origin = URL.canParse(url) ? new URL(url).origin : 'the URL';
    const reason =
      cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause);
    throw new CommandError(`${origin} does not answer: ${reason}; is \`hookmill serve\` running there?`);
  }
}

function findDeliveryId(text: string): string | null {
  try {
    const { delivery_id } = JSON.parse(text);
    return typeof delivery_id === 'string' ? delivery_id : null;
  } catch {
    return null;
  }
}
