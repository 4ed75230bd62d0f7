// Apart from automations, so that an editor of those needs no signature schemes.
import { findConditionWarnings } from '../filters/warnings/find-filter-warnings.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';
import type { Mistake } from './shape-mistakes.ts';
import { type WebhookDefinition, webhookShape } from './webhook-definition.ts';

/** Parses `webhooks/<name>.yaml`. */
export function parseWebhook(name: string, file: string, bytes: Uint8Array): ParsedFile<WebhookDefinition> {
  return parseFile(webhookShape, file, bytes, written => ({
    definition: { name, ...written },
    warnings: findClaimWarnings(written),
  }));
}

/** Warns about patterns in claims, which have only whole values. */
function findClaimWarnings({ claims = {} }: Pick<WebhookDefinition, 'claims'>): Mistake[] {
  return findConditionWarnings(claims)
    .filter(({ code }) => code === 'filter/pattern')
    .map(warning => {
      return {
        ...warning,
        path: ['claims', ...warning.path],
        hint: 'list whole values: claims have no patterns',
      };
    });
}
