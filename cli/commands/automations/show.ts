import type { Command } from 'commander';
import { requireAutomation } from '../../../operations/require-applied.ts';
import type { AutomationView } from '../../../operations/views/applied-views.ts';
import { printable } from '../../../schema/printable.ts';
import type { OpenBackend } from '../../backend/backend.ts';
import { printData } from '../../output.ts';
import { renderFields } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill automations show`. */
export function declareAutomationsShow(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'show',
    'show one applied automation',
    `
Examples:
  hookmill automations show triage
  hookmill automations show triage -o json`,
  )
    .argument('<name>', 'name of the automation')
    .action(async (name: string, _, command: Command) => {
      const { backend, output, factory } = await openBackend(command);
      const { automations } = await backend.call('listAutomations');
      const automation = requireAutomation({ factory, automations }, name);
      printData(output, automation, () => renderAutomation(automation));
    });
}

function renderAutomation(automation: AutomationView): string {
  const { name, enabled, prompt, triggers, file: _, ...runKeys } = automation;
  const triggerFields = triggers.map(({ webhook, uid, payload, headers }): [string, string] => {
    const target = webhook ?? 'unknown webhook (never starts a run):';
    const filters = [JSON.stringify(payload), headers && `headers ${JSON.stringify(headers)}`];
    return ['trigger', [target, uid, ...filters.filter(text => text !== undefined)].join(' ')];
  });
  const runFields = Object.entries(runKeys).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [[key, typeof value === 'object' ? JSON.stringify(value) : String(value)] as const],
  );
  const fields = renderFields([
    ['name', name],
    ['enabled', enabled ? 'yes' : 'no'],
    ...triggerFields,
    ...runFields,
  ]);
  const lines = prompt.split('\n').map(line => `  ${printable(line)}`);
  return `${fields}\n${lines.join('\n').trimEnd()}\n`;
}
