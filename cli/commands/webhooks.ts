import type { Command } from 'commander';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { didYouMean } from '../../schema/suggestion.ts';
import { readAppliedState } from '../../store/applied-state-store.ts';
import { contextOf } from '../context.ts';
import { CommandError } from '../exit-status.ts';
import { ingressUrl } from '../ingress-url.ts';
import { printData } from '../output.ts';
import { fieldList, table } from '../table.ts';

export async function list(command: Command): Promise<void> {
  const context = await contextOf(command);
  const { webhooks } = await readAppliedState(context.home, context.factory);
  const data = webhooks.map(webhook => webhookData(context.baseUrl, webhook));
  printData(context, data, () => {
    if (data.length === 0)
      return 'No webhooks are applied. hookmill apply makes the definitions the applied state.\n';
    const rows = data.map(({ name, authMode, signatureScheme, enabled, url }) => {
      return [name, modeText(authMode, signatureScheme), enabled ? 'yes' : 'no', url];
    });
    return table(['NAME', 'AUTH', 'ENABLED', 'URL'], rows);
  });
}

export async function show(nameOrUid: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const { webhooks, serial } = await readAppliedState(context.home, context.factory);
  const webhook = webhooks.find(({ name, uid }) => name === nameOrUid || uid === nameOrUid);
  if (!webhook) throw unknownWebhook(nameOrUid, context.factory, webhooks);
  const { credential } = webhook;
  const data = {
    ...webhookData(context.baseUrl, webhook),
    credential: credential.kind === 'unset' ? 'not set' : 'set',
    serial,
  };
  const unset = 'not set: answers 401 until the team secret is set and applied';
  printData(context, data, () =>
    fieldList([
      ['name', data.name],
      ['uid', data.uid],
      ['url', data.url],
      ['auth', modeText(data.authMode, data.signatureScheme)],
      ['secret', data.secretName],
      ['credential', credential.kind === 'unset' ? unset : 'in force'],
      ['delivery id header', data.deliveryIdHeader ?? '-'],
      ['enabled', data.enabled ? 'yes' : 'no'],
      ['serial', String(serial)],
    ]),
  );
}

/** Tells that no webhook of the factory is called so, and which one may be meant. */
export function unknownWebhook(
  name: string,
  factory: string,
  webhooks: readonly AppliedWebhook[],
): CommandError {
  const hint =
    didYouMean(
      name,
      webhooks.map(webhook => webhook.name),
    ) ?? '`hookmill webhooks list` prints those there are';
  return new CommandError(`the factory ${factory} has no webhook ${name} applied; ${hint}`);
}

function webhookData(baseUrl: string, webhook: AppliedWebhook) {
  const { name, uid, authMode, signatureScheme, secretName, deliveryIdHeader, enabled } = webhook;
  return {
    name,
    uid,
    url: ingressUrl(baseUrl, webhook),
    authMode,
    signatureScheme: signatureScheme ?? null,
    secretName,
    deliveryIdHeader: deliveryIdHeader ?? null,
    enabled,
  };
}

function modeText(authMode: string, scheme: unknown): string {
  if (scheme === null) return authMode;
  return `${authMode} (${typeof scheme === 'string' ? scheme : 'custom HMAC'})`;
}
