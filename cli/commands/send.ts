import { parseJsonText } from '../../json/parse-json-text.ts';
import { requireNamedWebhook } from '../../operations/applied/require-applied.ts';
import type { SentBody, SentEvent, SignedDelivery } from '../../operations/sending/sign-delivery.ts';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { FormattedWebhook } from '../../schema/definitions/webhook-definition.ts';
import { encodeHeaderValue } from '../../schema/header-value.ts';
import { createSortableId, readSortableIdTime, sortableIdRandomBytes } from '../../schema/ids.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { printable } from '../../schema/text/printable.ts';
import { isLoopback, isPrivate } from '../backend/server-address.ts';
import { type Context, openContext, toOpenFactory } from '../context.ts';
import { describeUnknownScheme, findReason } from '../describe-error.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { createHeaderOption, type HeaderLines } from '../input/options.ts';
import { readInputFile, readSecretValue } from '../input/read-input.ts';
import { printData, printStatus } from '../output.ts';
import { version } from '../version.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill send`. */
export function declareSend(command: CliCommand): void {
  command
    .explain(`sign a payload as the sender of a webhook would, and post it

For an applied webhook, the credential comes from its team secret. For any other receiver, use --scheme and --to, and
give the secret on standard input or at a prompt. If the scheme uses a public key, the secret is the private key as
PKCS #8 PEM, or a key of Standard Webhooks that starts with whsk_.

A CI job needs no secret for a webhook with authMode oidc: --oidc gets a token from the CI host. In GitHub Actions, the job
needs \`permissions: id-token: write\`; elsewhere, put the token in HOOKMILL_ID_TOKEN.

Each delivery gets a new ID: in the webhook's deliveryIdHeader and in the header of its signature scheme, or in
X-Service-Delivery-Id if its sender authenticates with a token. Repeat an ID to send a duplicate. A signature scheme
without such a header gets an ID only with --delivery-id. An ID in the body is sent as the file has it.

Examples:
  hookmill send deploys --payload deploy.json
  hookmill send deploys --payload deploy.json --delivery-id build-4711
  hookmill send github --payload push.json --header 'X-GitHub-Event: push'
  hookmill send slack --payload command.json
  hookmill send --oidc --to https://hooks.example.com/webhooks/w/wh_… --payload deploy.json
  hookmill send --scheme stripe --to https://hooks.example.com/webhooks/w/wh_… --payload event.json < secret.txt`)
    .argument('[webhook]', 'name or UID of an applied webhook')
    .requiredOption(
      '--payload <file>',
      'request body, sent byte for byte; JSON for a webhook with forms is sent as a form',
    )
    .option('--to <url>', 'URL to post to (default: the ingress URL of the webhook)')
    .option('--scheme <id>', 'signature scheme, if no webhook is named')
    .option('--oidc', 'send the OpenID Connect token of the CI job, in GitHub Actions or another host')
    .option('--audience <text>', 'audience to ask for with --oidc (default: the URL)')
    .option('--id-token-env <name>', 'variable with the token (default: HOOKMILL_ID_TOKEN)')
    .addOption(createHeaderOption('another header to send, as in "X-GitHub-Event: push"; repeatable'))
    .option('--id, --delivery-id <id>', 'ID that the sender gives to the delivery (default: a new one)')
    .action(async (name: string | undefined, options: SendOptions, command: CliCommand) =>
      send(name, options, await openContext(command)),
    );
}

interface SendOptions {
  readonly payload: string;
  readonly to?: string;
  readonly scheme?: string;
  readonly oidc?: boolean;
  readonly audience?: string;
  readonly idTokenEnv?: string;
  readonly deliveryId?: string;
  readonly header?: HeaderLines;
}

async function send(name: string | undefined, options: SendOptions, context: Context): Promise<void> {
  const event = makeEvent(await readInputFile(options.payload, 'the payload'), options.deliveryId);
  const request =
    name === undefined
      ? await signByScheme(options, event)
      : await signForWebhook(context, name, options, event);

  const sentAtMs = Date.now();
  const response = await post(request, options.header);
  const text = await response.text();
  const deliveryId = findDeliveryId(text);
  const isDuplicate =
    deliveryId !== null && (await isRecordedBefore(sentAtMs, deliveryId, response, context));
  const data = {
    status: response.status,
    deliveryId,
    duplicateOf: isDuplicate ? deliveryId : null,
    body: text,
  };
  const note = isDuplicate ? describeDuplicate(deliveryId, event, request) : '';
  printData(
    context.output,
    data,
    () => `${response.status} ${response.statusText}\n${printable(text.trimEnd())}\n${note}`,
  );
  if (!response.ok) throw new CommandError('');
}

/** Makes the body of a request. */
async function makeBody(bytes: Buffer, webhook: FormattedWebhook): Promise<SentBody> {
  const body = (await loadSigning()).makeBody(bytes, webhook);
  if (body) return body;
  throw new UsageError(
    'the payload does not fit into a form: write an object of up to 1,000 fields with texts or lists of texts, or the form itself',
  );
}

/** Loads the code that signs: most commands start without it. */
function loadSigning() {
  return import('../../operations/sending/sign-delivery.ts');
}

function makeEvent(body: Buffer, given: string | undefined): SentEvent {
  if (given !== undefined && (given.trim() === '' || /\p{Cc}/u.test(given))) {
    throw new UsageError('--delivery-id must not be blank, and must not contain control characters');
  }
  const random = crypto.getRandomValues(new Uint8Array(sortableIdRandomBytes));
  const id = given ?? createSortableId('msg', Date.now(), random);
  return { body, id: encodeHeaderValue(id), isIdGiven: given !== undefined };
}

async function signForWebhook(
  context: Context,
  name: string,
  options: SendOptions,
  event: SentEvent,
): Promise<SignedDelivery> {
  const { to, scheme } = options;
  if (scheme) throw new UsageError('--scheme cannot be combined with the name of a webhook');
  const webhook = requireNamedWebhook(await context.store.appliedStates.read(context.factory), name);
  const url = to ?? renderIngressUrl(context.ownBaseUrl, webhook);
  const { authMode, secretName, deliveryIdHeader, deliveryIdField: idField } = webhook;
  const body = await makeBody(event.body, webhook);
  if (options.oidc && secretName !== undefined)
    throw new UsageError(`the webhook ${name} takes no tokens: its authMode is ${authMode}`);
  if (secretName === undefined) {
    const audience = options.audience ?? webhook.audience;
    const header = deliveryIdHeader ?? (await loadSigning()).serviceIdHeader;
    const headers = await makeCiHeaders({ ...options, to: url, audience }, header, event);
    return { url, body, headers, idField };
  }
  const secret = await openSecret(context, { ...webhook, secretName });
  const { signDelivery } = await loadSigning();
  return orCannotSign(() => signDelivery(webhook, secret, { url, body }, event, Date.now()));
}

function orCannotSign(sign: () => SignedDelivery): SignedDelivery {
  try {
    return sign();
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`the request cannot be signed: ${error.message}`);
    throw error;
  }
}

/** Makes the headers of a CI job that sends: with the token that its host issues for it. */
async function makeCiHeaders(
  { to, audience, idTokenEnv }: SendOptions & { readonly to: string },
  idHeader: string,
  { id }: SentEvent,
): Promise<SignedDelivery['headers']> {
  if (!isPrivate(to))
    throw new UsageError('--oidc needs a URL with https: a token must not be sent unencrypted');
  const { getCiToken } = await import('../ci-token.ts');
  const token = await getCiToken(audience ?? to, process.env, idTokenEnv);
  return [
    [idHeader, id],
    ['Authorization', `Bearer ${token}`],
  ];
}

async function signByScheme(options: SendOptions, event: SentEvent): Promise<SignedDelivery> {
  const { to, scheme, oidc } = options;
  if (oidc && scheme) throw new UsageError('--oidc cannot be combined with --scheme');
  if (oidc) {
    if (!to) throw new UsageError('--oidc requires --to, or the name of a webhook');
    const body = await makeBody(event.body, {});
    const { serviceIdHeader } = await loadSigning();
    return { url: to, body, headers: await makeCiHeaders({ ...options, to }, serviceIdHeader, event) };
  }
  if (!to || !scheme) throw new UsageError('--scheme and --to are required without the name of a webhook');
  const { findScheme, schemeIds } = await import('../../signatures/schemes.ts');
  const description = findScheme(scheme);
  if (!description) throw new UsageError(describeUnknownScheme(scheme, schemeIds));
  const secret = await readSecretValue(`Secret of the ${scheme} sender:`);
  const body = await makeBody(event.body, { signatureScheme: scheme });
  const { signByDescription } = await loadSigning();
  const request = { url: to, body };
  const signed = orCannotSign(() =>
    signByDescription(description, secret, request, event, { nowMs: Date.now() }),
  );
  return { ...signed, idField: description.bodyIdentity?.field };
}

/** Opens the current value of the team secret. Warns if it changed since the last apply. */
async function openSecret(
  context: Context,
  { name, secretName, credential }: AppliedWebhook & { readonly secretName: string },
): Promise<string> {
  const { value, unresolved } = (await context.store.teamSecrets.open([secretName])).get(secretName) ?? {};
  if (unresolved) throw new CommandError(`${unresolved.message}; ${unresolved.hint}`);
  if (!value) throw new CommandError(`the team secret ${secretName} of the webhook ${name} has no value`);
  if (!('secretVersion' in credential) || credential.secretVersion !== value.version) {
    const { explainNewValue } = await import('../../operations/branch/new-secret-value.ts');
    const next = await explainNewValue(toOpenFactory(context));
    printStatus(`${secretName} has changed since the last apply. ${next}`);
  }
  return value.text;
}

async function post({ url, body, headers }: SignedDelivery, others: HeaderLines = []): Promise<Response> {
  try {
    const all = new Headers({ 'Content-Type': body.contentType, 'User-Agent': `hookmill/${version}` });
    for (const [name, value] of others) all.set(name, encodeHeaderValue(value));
    for (const [name, value] of headers) all.set(name, value);
    return await fetch(url, {
      method: 'POST',
      headers: all,
      body: new Uint8Array(body.bytes),
      redirect: 'manual',
    });
  } catch (cause) {
    // The URL may contain a token, so the message shows only its origin.
    const origin = URL.canParse(url) ? new URL(url).origin : 'the URL';
    throw new CommandError(
      `${origin} does not answer: ${findReason(cause)}; is \`hookmill serve\` running there?`,
    );
  }
}

function findDeliveryId(text: string): string | null {
  try {
    const { delivery_id } = parseJsonText(text) as { delivery_id?: unknown };
    return typeof delivery_id === 'string' ? delivery_id : null;
  } catch {
    return null;
  }
}

/**
 * Whether the delivery was recorded before this request was sent: then the request was its duplicate. The answer does
 * not say so, but the ID contains when its delivery was recorded, by the receiver's clock. On this machine, that is
 * our clock. Otherwise the answer's date is compared, which has only whole seconds: a duplicate of a delivery of the
 * same second may go unnoticed.
 */
async function isRecordedBefore(
  sentAtMs: number,
  deliveryId: string,
  { url, headers }: Response,
  { store }: Context,
): Promise<boolean> {
  const recordedAtMs = readSortableIdTime(deliveryId);
  if (recordedAtMs === undefined) return false;
  const tookMs = Date.now() - sentAtMs;
  const isHere =
    isLoopback(new URL(url).hostname) ||
    (await store.deliveries.findDelivery(deliveryId).catch(() => undefined)) !== undefined;
  return recordedAtMs < (isHere ? sentAtMs : Date.parse(headers.get('date') ?? '') - tookMs);
}

function describeDuplicate(
  deliveryId: string,
  { isIdGiven }: SentEvent,
  { idField }: SignedDelivery,
): string {
  const duplicate = `Duplicate of ${printable(deliveryId)}: it starts nothing.`;
  if (idField !== undefined) {
    const fields = [idField].flat().join(' and ');
    return `${duplicate} ${fields} in the body identifies it: with another value, it is a new delivery.\n`;
  }
  const wayOut = isIdGiven ? 'another' : 'a new';
  return `${duplicate} With ${wayOut} --delivery-id, it is a new delivery.\n`;
}
