import { randomBytes } from 'node:crypto';
import { homeAt } from '../../store/home/home.ts';
import type { Run } from '../../store/ports/delivery-log.ts';
import { applyDirectory } from './factory.ts';
import { factoryIn, readStore } from './stored.ts';
import type { Workspace } from './workspace.ts';

/**
 * Applies a webhook, and automations that each start a run of every delivery to it: the keys of each, besides its
 * trigger. Returns the webhook's UID and secret.
 */
export async function applyTriggered(
  workspace: Workspace,
  automations: Readonly<Record<string, object>> = { act: {} },
  webhook: { readonly name: string; readonly [key: string]: string } = { name: 'hook' },
): Promise<{ readonly uid: string; readonly secret: string }> {
  const { name, ...keys } = webhook;
  const factory = factoryIn(homeAt(workspace.home));
  const secret = randomBytes(32).toString('base64url');
  await factory.store.teamSecrets.set('TOKEN', secret);
  workspace.write(`webhooks/${name}.yaml`, JSON.stringify({ secretName: 'TOKEN', ...keys }));
  const apply = async () => {
    const applied = await applyDirectory(factory, workspace.directory);
    if (applied.result === 'invalid') throw new Error(JSON.stringify(applied.diagnostics));
    return applied.state.webhooks;
  };
  const uid = (await apply()).find(one => one.name === name)?.uid ?? '';
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  for (const [automation, keys] of Object.entries(automations))
    workspace.write(`automations/${automation}.yaml`, JSON.stringify({ prompt: 'Act.', triggers, ...keys }));
  await apply();
  await factory.store.close();
  return { uid, secret };
}

/** Reads the newest run of the factory `default`. */
export function readNewestRun({ home }: Workspace): Promise<Run | undefined> {
  return readStore(homeAt(home), async ({ deliveries }) => {
    const [run] = await deliveries.listRuns({ factory: 'default', limit: 1 });
    return run;
  });
}
