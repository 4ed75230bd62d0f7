import { homeAt } from '../../store/home/home.ts';
import type { Run } from '../../store/ports/delivery-log.ts';
import { readStore } from './stored.ts';
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
  workspace.write(`webhooks/${name}.yaml`, JSON.stringify({ secretName: 'TOKEN', ...keys }));
  const { stdout: secret } = await workspace.hookmill('secrets', 'generate', 'TOKEN');
  const applied = await workspace.hookmill('apply', '-o', 'json');
  const [{ uid }] = JSON.parse(applied.stdout).changes;
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  for (const [automation, keys] of Object.entries(automations))
    workspace.write(`automations/${automation}.yaml`, JSON.stringify({ prompt: 'Act.', triggers, ...keys }));
  await workspace.hookmill('apply');
  return { uid, secret: secret.trim() };
}

/** Reads the newest run of the factory `default`. */
export function readNewestRun({ home }: Workspace): Promise<Run | undefined> {
  return readStore(homeAt(home), async ({ deliveries }) => {
    const [run] = await deliveries.listRuns({ factory: 'default', limit: 1 });
    return run;
  });
}
