// Apart from automations, so that an editor of those needs no signature schemes.
import { type ParsedFile, parseFile } from './parse-file.ts';
import { type WebhookDefinition, webhookShape } from './webhook-definition.ts';

/** Parses `webhooks/<name>.yaml`. */
export function parseWebhook(name: string, file: string, bytes: Uint8Array): ParsedFile<WebhookDefinition> {
  return parseFile(webhookShape, file, bytes, written => ({ definition: { name, ...written } }));
}
