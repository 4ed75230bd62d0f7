import { requireNamedWebhook } from '../../operations/applied/require-applied.ts';
import type { HealthView } from '../../operations/health/show-health.ts';
import type { WebhookView } from '../../operations/views/applied-views.ts';
import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import {
  describeAdvice,
  describeHandshake,
  describeIdentity,
  describeRepeatedId,
  remedyRepeatedId,
} from '../../schema/clients/describe.ts';
import { describeTokenPlace } from '../../schema/token-place.ts';
import { type Backend, readHealth, type WebhookHealth } from '../backend/backend.ts';
import { openBackend } from '../backend/open-backend.ts';
import { CommandError } from '../exit-status.ts';
import { createHeaderOption, type HeaderLines, toEventHeaders } from '../input/options.ts';
import { readPayloadFile } from '../input/read-input.ts';
import { printData } from '../output.ts';
import { describeCommit } from '../render/colours.ts';
import { renderFields } from '../render/render-table.ts';
import { renderAuthMode, renderSender, renderUnlogged } from '../render/render-webhook.ts';
import { type CliCommand, declareList } from './cli-command.ts';

/** Declares `hookmill webhooks`. */
export function declareWebhooks(command: CliCommand): void {
  command
    .explain(`show applied webhooks and their ingress URLs, and send tests to them

Examples:
  hookmill webhooks list
  hookmill webhooks show deploys
  hookmill webhooks test deploys`)
    .subcommands({ list, show, test });
}

const list = declareList({
  description: 'list the applied webhooks, their health and their ingress URLs',
  read: async command => {
    const { backend } = await openBackend(command);
    const [{ webhooks }, { byUid: health }] = await Promise.all([
      backend.call('listWebhooks'),
      readHealth(backend),
    ]);
    return webhooks.map(({ credential: _, file: __, commit: ___, ...webhook }) => ({
      ...webhook,
      health: health.get(webhook.uid)?.health ?? null,
    }));
  },
  empty: 'No webhooks are applied. Run `hookmill apply` to apply definitions.',
  heading: ['NAME', 'AUTH', 'ENABLED', 'HEALTH', 'URL'],
  toCells: ({ name, enabled, health, url, ...mode }) => {
    return [name, renderAuthMode(mode), enabled ? 'yes' : 'no', health?.state ?? '-', url];
  },
});

function show(command: CliCommand): void {
  command
    .explain(`show one applied webhook

Examples:
  hookmill webhooks show deploys
  hookmill webhooks show wh_0123456789abcdefghijklmn -o json`)
    .argument('<name>', 'name or UID of the webhook')
    .action(async (nameOrUid: string, _options, command: CliCommand) => {
      const { backend, output, factory } = await openBackend(command);
      const { webhooks, serial } = await backend.call('listWebhooks');
      const webhook = requireNamedWebhook({ factory, webhooks }, nameOrUid);
      const { file: _, ...data } = webhook;
      // The URL is shown even if the log cannot be read.
      const { requests: unlogged } = await backend
        .call('listUnlogged', { query: { webhook: webhook.uid } })
        .catch(() => ({ requests: [] }));
      const { byUid, pauses } = await readHealth(backend, webhook.uid);
      const { health = null, overlap, repeatedId } = byUid.get(webhook.uid) ?? {};
      const sender = webhook.sender && (await readSender(backend, webhook.uid));
      printData(
        output,
        {
          ...data,
          serial,
          health,
          ...(overlap && { overlap }),
          ...(repeatedId && { repeatedId }),
          pauses,
          unlogged,
          hook: sender ?? null,
        },
        () =>
          renderFields(toFields(webhook, serial, { health, overlap, repeatedId, pauses })) +
          (sender ? `\n${renderSender(sender)}` : '') +
          renderUnlogged(unlogged),
      );
    });
}

interface TestOptions {
  readonly payload?: string;
  readonly header?: HeaderLines;
  readonly mayStartRuns?: true;
}

function test(command: CliCommand): void {
  command
    .explain(`send a test to a webhook as its sender would, through the daemon that serves it

The daemon signs the test with the secret in force. By default, it is an event of the type hookmill.test whose ID starts with
test-, and it is not sent if an automation would start a run for it. A payload of yours may start runs.

Examples:
  hookmill webhooks test deploys
  hookmill webhooks test github --payload push.json --header 'X-GitHub-Event: push'`)
    .argument('<name>', 'name or UID of the webhook')
    .option('--payload <file>', 'a payload to send instead')
    .addOption(createHeaderOption('an event header, as in "X-GitHub-Event: push"; repeatable'))
    .option('--may-start-runs', 'send the test also if automations start runs for it')
    .action(async (nameOrUid: string, options: TestOptions, command: CliCommand) => {
      const { payload: file, header, mayStartRuns } = options;
      const { backend, output, factory } = await openBackend(command);
      const { webhooks } = await backend.call('listWebhooks');
      const { uid } = requireNamedWebhook({ factory, webhooks }, nameOrUid);
      const payload = file === undefined ? undefined : (await readPayloadFile(file)).bytes.toString('utf8');
      const headers = header && toEventHeaders(header);
      const body = { payload, headers, mayStartRuns };
      const sent = await backend.call('sendTest', { params: { uid }, body });
      printData(output, sent, () => renderFields(toTestFields(sent)));
      if (sent.outcome !== 'Accepted') throw new CommandError('');
    });
}

function toTestFields(sent: ApiAnswer<ApiRoutes['sendTest']>): (readonly [string, string])[] {
  const { status, outcome, deliveryId, reason, remedy, runs, tookMs } = sent;
  return [
    ['status', `${status} after ${tookMs} ms`],
    ['outcome', outcome ?? 'refused without a row in the log'],
    ...(reason === null ? [] : [['reason', reason] as const]),
    ...(remedy === null ? [] : [['remedy', remedy] as const]),
    ['delivery', deliveryId ?? '-'],
    ['runs', String(runs)],
  ];
}

async function readSender(backend: Pick<Backend, 'call'>, uid: string) {
  const { senders } = await backend.call('listSenders');
  return senders.find(sender => sender.uid === uid);
}

function renderBodyFormat({ bodyFormat, payloadField }: WebhookView): string {
  if (bodyFormat === 'json') return 'JSON';
  return payloadField === null ? 'forms' : `forms with JSON in the field ${payloadField}`;
}

function toFields(
  webhook: WebhookView,
  serial: number,
  {
    health,
    overlap,
    repeatedId,
    pauses,
  }: Pick<WebhookHealth, 'health' | 'overlap' | 'repeatedId'> & Pick<HealthView, 'pauses'>,
): (readonly [string, string])[] {
  const unset = 'not set: answers 401 until the team secret is set and applied';
  return [
    ['name', webhook.name],
    ['uid', webhook.uid],
    ['url', webhook.url],
    ['auth', renderAuthMode(webhook)],
    ...(webhook.authMode === 'oidc'
      ? ([
          ['issuer', webhook.issuer ?? '-'],
          ['audience', webhook.audience ?? '-'],
          ['claims', JSON.stringify(webhook.claims)],
        ] as const)
      : [['secret', webhook.secretName ?? '-'] as const]),
    ['credential', webhook.credential === 'not set' ? unset : 'active'],
    ...(webhook.authMode === 'token' ? ([['token', describeTokenPlace(webhook)]] as const) : []),
    ['bodies', renderBodyFormat(webhook)],
    ['delivery id', renderDeliveryId(webhook)],
    ...(webhook.identity === null ? [] : ([['without id', describeIdentity(webhook.identity)]] as const)),
    ...(webhook.handshake === null ? [] : ([['handshake', describeHandshake(webhook.handshake)]] as const)),
    ['event headers', webhook.eventHeaders.join(', ')],
    ['enabled', webhook.enabled ? 'yes' : 'no'],
    ['health', health ? `${health.state}: ${health.reason}` : '-'],
    ...(overlap ? [['secret in use', describeAdvice(overlap)] as const] : []),
    ...pauses.map(({ automation, by, at }) => ['paused', `${automation}, by ${by} since ${at}`] as const),
    ...(repeatedId
      ? ([['repeated id', `${describeRepeatedId(repeatedId)}. ${remedyRepeatedId(repeatedId)}.`]] as const)
      : []),
    ...(webhook.createdAt === null ? [] : [['created', webhook.createdAt] as const]),
    ['serial', String(serial)],
    ...(webhook.commit ? ([['revision', describeCommit(webhook.commit)]] as const) : []),
  ];
}

function renderDeliveryId({ deliveryIdHeader, deliveryIdField }: WebhookView): string {
  if (deliveryIdField !== null) return `${[deliveryIdField].flat().join(' with ')} in the body`;
  return deliveryIdHeader ?? '-';
}
