import { parseJsonText } from '../../json/parse-json-text.ts';
import { requireNamedWebhook } from '../../operations/applied/require-applied.ts';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { FormattedWebhook } from '../../schema/definitions/webhook-definition.ts';
import { encodeHeaderValue } from '../../schema/header-value.ts';
import { createSortableId, readSortableIdTime, sortableIdRandomBytes } from '../../schema/ids.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { printable } from '../../schema/text/printable.ts';
import type { SignatureDescription } from '../../signatures/description.ts';
import { isLoopback, isPrivate } from '../backend/server-address.ts';
import { type Context, openContext, toOpenFactory } from '../context.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { findReason } from '../find-reason.ts';
import { createHeaderOption, type HeaderLines } from '../input/header-option.ts';
import { readInputFile } from '../input/read-input-file.ts';
import { readSecretValue } from '../input/read-secret-names.ts';
import { printData, printStatus } from '../output.ts';
import { describeUnknownScheme } from '../render/describe-unknown-scheme.ts';
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

interface SignedRequest {
  readonly url: string;
  readonly body: SentBody;
  /** Values by name. A later name replaces an earlier one that differs only in case. */
  readonly headers: readonly (readonly [string, string])[];
  /** The fields of the body that identify the delivery, if the webhook or its signature scheme names some. */
  readonly idField?: string | readonly string[] | undefined;
}

/** The event to send: the body, and the ID that its sender gives to it. */
interface Event {
  readonly body: Buffer;
  readonly id: string;
  /** Whether the user chose the ID. */
  readonly isIdGiven: boolean;
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

/** A body in the format that its receiver expects. */
interface SentBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** Makes the body of a request. A receiver of forms gets JSON as a form; anything else is sent as it is. */
async function makeBody(bytes: Buffer, webhook: FormattedWebhook): Promise<SentBody> {
  const [{ findFormFormat }, { makeForm, notForm, readFormPayload }] = await Promise.all([
    import('../../schema/definitions/webhook-definition.ts'),
    import('../../schema/payloads/form-payload.ts'),
  ]);
  const format = findFormFormat(webhook);
  if (!format) return { bytes, contentType: 'application/json' };
  const contentType = 'application/x-www-form-urlencoded';
  const read = readFormPayload(bytes, format);
  if (read.ok || read.problem !== notForm) return { bytes, contentType };
  const form = makeForm(bytes.toString(), format);
  if (form === undefined) {
    throw new UsageError(
      'the payload does not fit into a form: write an object of up to 1,000 fields with texts or lists of texts, or the form itself',
    );
  }
  return { bytes: Buffer.from(form), contentType };
}

function makeEvent(body: Buffer, given: string | undefined): Event {
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
  event: Event,
): Promise<SignedRequest> {
  const { to, scheme } = options;
  if (scheme) throw new UsageError('--scheme cannot be combined with the name of a webhook');
  const webhook = requireNamedWebhook(await context.store.appliedStates.read(context.factory), name);
  if (to === undefined) requireOwnBaseUrl(context);
  const url = to ?? renderIngressUrl(context.baseUrl, webhook);
  const { authMode, secretName, deliveryIdHeader, deliveryIdField: idField } = webhook;
  const body = await makeBody(event.body, webhook);
  if (options.oidc && secretName !== undefined)
    throw new UsageError(`the webhook ${name} takes no tokens: its authMode is ${authMode}`);
  if (secretName === undefined) {
    const audience = options.audience ?? webhook.audience;
    const header = deliveryIdHeader ?? serviceIdHeader;
    const headers = await makeCiHeaders({ ...options, to: url, audience }, header, event);
    return { url, body, headers, idField };
  }
  const secret = await openSecret(context, { ...webhook, secretName });
  if (authMode !== 'signature') {
    const identity = [deliveryIdHeader ?? serviceIdHeader, event.id] as const;
    if (authMode === 'url_token')
      return { url: url.replace('{token}', secret), body, headers: [identity], idField };
    return { url, body, headers: [identity, ['Authorization', `Bearer ${secret}`]], idField };
  }
  const { describeScheme, findScheme } = await import('../../signatures/schemes.ts');
  const description = webhook.signatureScheme && describeScheme(webhook.signatureScheme);
  if (!description) throw new CommandError(`the webhook ${name} has no known signature scheme`);
  const field = findScheme(webhook.signatureScheme)?.bodyIdentity?.field;
  const signed = await sign(description, secret, { url, body }, event, deliveryIdHeader);
  return { ...signed, idField: deliveryIdHeader === undefined ? (idField ?? field) : undefined };
}

/** The header in which a sender gives an ID if neither the webhook nor its signature scheme has another one. */
const serviceIdHeader = 'X-Service-Delivery-Id';

/**
 * Refuses a base URL that only hookmill.yaml names: its author could have the credential sent to a server of theirs.
 */
function requireOwnBaseUrl({ baseUrl, isOwnBaseUrl }: Context): void {
  if (isOwnBaseUrl) return;
  const remedy = `if it is yours, set HOOKMILL_BASE_URL=${baseUrl}`;
  throw new CommandError(
    `the credential is not sent to ${baseUrl}, which only hookmill.yaml names; ${remedy}`,
  );
}

/** Makes the headers of a CI job that sends: with the token that its host issues for it. */
async function makeCiHeaders(
  { to, audience, idTokenEnv }: SendOptions & { readonly to: string },
  idHeader: string,
  { id }: Event,
): Promise<SignedRequest['headers']> {
  if (!isPrivate(to))
    throw new UsageError('--oidc needs a URL with https: a token must not be sent unencrypted');
  const { getCiToken } = await import('../ci-token.ts');
  const token = await getCiToken(audience ?? to, process.env, idTokenEnv);
  return [
    [idHeader, id],
    ['Authorization', `Bearer ${token}`],
  ];
}

async function signByScheme(options: SendOptions, event: Event): Promise<SignedRequest> {
  const { to, scheme, oidc } = options;
  if (oidc && scheme) throw new UsageError('--oidc cannot be combined with --scheme');
  if (oidc) {
    if (!to) throw new UsageError('--oidc requires --to, or the name of a webhook');
    const body = await makeBody(event.body, {});
    return { url: to, body, headers: await makeCiHeaders({ ...options, to }, serviceIdHeader, event) };
  }
  if (!to || !scheme) throw new UsageError('--scheme and --to are required without the name of a webhook');
  const { findScheme, schemeIds } = await import('../../signatures/schemes.ts');
  const description = findScheme(scheme);
  if (!description) throw new UsageError(describeUnknownScheme(scheme, schemeIds));
  const secret = await readSecretValue(`Secret of the ${scheme} sender:`);
  const body = await makeBody(event.body, { signatureScheme: scheme });
  const signed = await sign(description, secret, { url: to, body }, event, undefined);
  return { ...signed, idField: description.bodyIdentity?.field };
}

/** Makes the headers of the scheme's sender: with an ID only if that sender gives one, or if the user does. */
async function sign(
  description: SignatureDescription,
  secret: string,
  request: Pick<SignedRequest, 'url' | 'body'>,
  { id, isIdGiven }: Event,
  deliveryIdHeader: string | undefined,
): Promise<SignedRequest> {
  const { addressBody, signRequest } = await import('../../signatures/sign.ts');
  const ownHeader =
    ('idHeader' in description && description.idHeader) || description.deliveryIdHeader || undefined;
  const header = deliveryIdHeader ?? (isIdGiven && ownHeader === undefined ? serviceIdHeader : undefined);
  try {
    const { bytes: body, contentType } = request.body;
    const url = addressBody(description, request.url, contentType === 'application/json' ? body : undefined);
    const toSign = { body, url, method: 'POST', nowMs: Date.now(), id };
    const signed = Object.entries(signRequest(description, secret, toSign));
    return { url, body: request.body, headers: header === undefined ? signed : [[header, id], ...signed] };
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`the request cannot be signed: ${error.message}`);
    throw error;
  }
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

async function post({ url, body, headers }: SignedRequest, others: HeaderLines = []): Promise<Response> {
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

function describeDuplicate(deliveryId: string, { isIdGiven }: Event, { idField }: SignedRequest): string {
  const duplicate = `Duplicate of ${printable(deliveryId)}: it starts nothing.`;
  if (idField !== undefined) {
    const fields = [idField].flat().join(' and ');
    return `${duplicate} ${fields} in the body identifies it: with another value, it is a new delivery.\n`;
  }
  const wayOut = isIdGiven ? 'another' : 'a new';
  return `${duplicate} With ${wayOut} --delivery-id, it is a new delivery.\n`;
}
