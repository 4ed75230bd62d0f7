import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { readHealth } from '../../backend/read-health.ts';
import { printData } from '../../output.ts';
import { renderAuthMode } from '../../render/render-auth-mode.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill webhooks list`. */
export function declareWebhooksList(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'list',
    'list the applied webhooks, their health and their ingress URLs',
    `
Examples:
  hookmill webhooks list
  hookmill webhooks list -o json`,
  ).action(async (_, command: Command) => {
    const { backend, output } = await openBackend(command);
    const [{ webhooks }, health] = await Promise.all([backend.call('listWebhooks'), readHealth(backend)]);
    const data = webhooks.map(({ credential: _, file: __, commit: ___, ...webhook }) => ({
      ...webhook,
      health: health.get(webhook.uid) ?? null,
    }));
    printData(output, data, () => {
      if (webhooks.length === 0)
        return 'No webhooks are applied. Run `hookmill apply` to apply definitions.\n';
      const rows = webhooks.map(webhook => {
        const { name, uid, enabled, url } = webhook;
        return [name, renderAuthMode(webhook), enabled ? 'yes' : 'no', health.get(uid)?.state ?? '-', url];
      });
      return renderTable(['NAME', 'AUTH', 'ENABLED', 'HEALTH', 'URL'], rows);
    });
  });
}
