import { stringify } from 'yaml';
import { type AutomationDefinition, pickRunControl } from './automation-definition.ts';
import { pickWrittenKeys, type WebhookKeys } from './webhook-definition.ts';
import { nameWebhooks } from './webhook-names.ts';

/** Renders a webhook as the text of its definition file, without the keys that have their default value. */
export function renderWebhookYaml(webhook: WebhookKeys): string {
  return renderYaml(pickWrittenKeys(webhook));
}

/** Renders an automation as the text of its definition file, which selects these webhooks by their names. */
export function renderAutomationYaml(
  automation: Omit<AutomationDefinition, 'name'>,
  webhooks: readonly { readonly name: string; readonly uid: string }[],
): string {
  const { enabled, prompt } = automation;
  const triggers = nameWebhooks(automation, webhooks);
  return renderYaml({ ...(!enabled && { enabled }), prompt, triggers, ...pickRunControl(automation) });
}

/** Writes no aliases, because definition files cannot have them. */
function renderYaml(definition: object): string {
  return stringify(definition, { aliasDuplicateObjects: false, lineWidth: 110 });
}
