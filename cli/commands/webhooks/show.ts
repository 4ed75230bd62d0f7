import type { Command } from 'commander';
import { backendOf } from '../../backend/backend.ts';
import { unknownWebhook } from '../../backend/find-webhook.ts';
import { printData } from '../../output.ts';
import { describeCommit } from '../../render/render-reconcile.ts';
import { fieldList, table } from '../../render/table.ts';

export async function list(command: Command): Promise<void> {
  const { backend, output } = await backendOf(command);
  const { webhooks } = await backend.webhooks();
  const data = webhooks.map(({ credential: _, file: __, commit: ___, ...webhook }) => webhook);
  printData({ output }, data, () => {
    if (webhooks.length === 0)
      return 'No webhooks are applied. hookmill apply makes the definitions the applied state.\n';
    const rows = webhooks.map(({ name, authMode, signatureScheme, enabled, url }) => {
      return [name, modeText(authMode, signatureScheme), enabled ? 'yes' : 'no', url];
    });
    return table(['NAME', 'AUTH', 'ENABLED', 'URL'], rows);
  });
}

export async function show(nameOrUid: string, command: Command): Promise<void> {
  const { backend, output, factory } = await backendOf(command);
  const { webhooks, serial } = await backend.webhooks();
  const webhook = webhooks.find(({ name, uid }) => name === nameOrUid || uid === nameOrUid);
  if (!webhook) throw unknownWebhook(nameOrUid, factory, webhooks);
  const unset = 'not set: answers 401 until the team secret is set and applied';
  const { file: _, ...data } = webhook;
  printData({ output }, { ...data, serial }, () =>
    fieldList([
      ['name', webhook.name],
      ['uid', webhook.uid],
      ['url', webhook.url],
      ['auth', modeText(webhook.authMode, webhook.signatureScheme)],
      ['secret', webhook.secretName],
      ['credential', webhook.credential === 'not set' ? unset : 'in force'],
      ['delivery id header', webhook.deliveryIdHeader ?? '-'],
      ['enabled', webhook.enabled ? 'yes' : 'no'],
      ['serial', String(serial)],
      ...(webhook.commit ? ([['revision', describeCommit(webhook.commit)]] as const) : []),
    ]),
  );
}

function modeText(authMode: string, scheme: unknown): string {
  if (scheme === null) return authMode;
  return `${authMode} (${typeof scheme === 'string' ? scheme : 'custom HMAC'})`;
}
