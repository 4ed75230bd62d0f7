import { findFilterWarnings } from '../filters/warnings/find-filter-warnings.ts';
import { type AutomationDefinition, automationShape } from './automation-definition.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';
import { findPromptWarnings } from './prompt-warnings.ts';
import type { Mistake } from './shape-mistakes.ts';
import { type WebhookDefinition, webhookShape } from './webhook-definition.ts';

/** Parses `webhooks/<name>.yaml`. */
export function parseWebhook(name: string, file: string, bytes: Uint8Array): ParsedFile<WebhookDefinition> {
  const parsed = parseFile(webhookShape, file, bytes);
  return { ...parsed, definition: parsed.definition && { name, ...parsed.definition } };
}

/** Parses `automations/<name>.yaml`. */
export function parseAutomation(
  name: string,
  file: string,
  bytes: Uint8Array,
): ParsedFile<AutomationDefinition> {
  const parsed = parseFile(automationShape, file, bytes, findAutomationWarnings);
  return { ...parsed, definition: parsed.definition && { name, ...parsed.definition } };
}

function findAutomationWarnings({
  prompt,
  triggers,
  debounce,
}: Pick<AutomationDefinition, 'prompt' | 'triggers' | 'debounce'>): Mistake[] {
  return [
    ...findPromptWarnings(prompt, debounce !== undefined),
    ...triggers.flatMap(({ filter: { payload } }, index) =>
      findFilterWarnings(payload ?? {}).map(warning => {
        return { ...warning, path: ['triggers', index, 'filter', 'payload', ...warning.path] };
      }),
    ),
  ];
}
