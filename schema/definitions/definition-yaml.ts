import { stringify } from 'yaml';
import type { AutomationDefinition } from './automation-definition.ts';
import type { WebhookDefinition } from './webhook-definition.ts';

/** The text of the definition file that says the same; what is left at its default is left out. */
export function webhookYaml(webhook: Omit<WebhookDefinition, 'name'>): string {
  const { authMode, signatureScheme, secretName, deliveryIdHeader, enabled } = webhook;
  return yaml({
    ...(authMode !== 'token' && { authMode }),
    ...(signatureScheme !== undefined && { signatureScheme }),
    secretName,
    ...(deliveryIdHeader !== undefined && { deliveryIdHeader }),
    ...(!enabled && { enabled }),
  });
}

export function automationYaml({ enabled, prompt, triggers }: Omit<AutomationDefinition, 'name'>): string {
  return yaml({ ...(!enabled && { enabled }), prompt, triggers });
}

/** Without aliases, which definition files do not have. */
function yaml(definition: object): string {
  return stringify(definition, { aliasDuplicateObjects: false, lineWidth: 110 });
}
