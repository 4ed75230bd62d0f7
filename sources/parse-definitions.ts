import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import { parseAutomation, parseWebhook } from '../schema/definitions/parse-definition.ts';
import type { ParsedFile } from '../schema/definitions/parse-file.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { parseYaml } from '../schema/definitions/yaml-source.ts';
import { type Diagnostic, sortDiagnostics } from '../schema/diagnostics.ts';
import { crossFileProblems } from './cross-file-problems.ts';
import type { DefinitionFile, DefinitionFiles, Definitions } from './definition-files.ts';
import { webhookNameIn, withWebhookIdHints } from './webhook-id-hints.ts';

export function parseDefinitions(found: DefinitionFiles): Definitions {
  const { files } = found;
  const webhooks: WebhookDefinition[] = [];
  const automations: AutomationDefinition[] = [];
  const problems: Diagnostic[] = [];
  const texts = new Map<string, string>();

  const take = <T>({ file }: DefinitionFile, parsed: ParsedFile<T>, definitions: T[]) => {
    texts.set(file, parsed.text);
    problems.push(...parsed.diagnostics);
    if (parsed.definition) definitions.push(parsed.definition);
  };
  for (const definition of files) {
    const { kind, name, file, bytes } = definition;
    if (kind === 'webhook') take(definition, parseWebhook(name, file, bytes), webhooks);
    else take(definition, parseAutomation(name, file, bytes), automations);
  }
  const locate = locator(files);
  return {
    webhooks: webhooks.sort(byName),
    automations: automations.sort(byName),
    diagnostics: sortDiagnostics([
      ...found.diagnostics,
      ...withWebhookIdHints(problems, texts, written => webhookFileHint(files, written)),
      ...crossFileProblems(found, { automations, locate }),
    ]),
    fileCount: files.length,
    texts,
    locate,
  };
}

function locator(files: readonly DefinitionFile[]): Definitions['locate'] {
  return (kind, name, path) => {
    const found = files.find(file => file.kind === kind && file.name === name);
    if (!found) throw new Error(`there is no ${kind} ${name} to locate`);
    // Parsed once more: few places are asked for, and every parsed file would have to be kept for them.
    const yaml = parseYaml(found.file, found.bytes);
    return { file: found.file, range: yaml.ok ? yaml.source.rangeOfValue(path) : undefined };
  };
}

/** What was written for a UID may name a webhook that is defined beside it. */
function webhookFileHint(files: readonly DefinitionFile[], written: string): string | undefined {
  const webhook = files.find(({ kind, name }) => kind === 'webhook' && name === webhookNameIn(written));
  return (
    webhook &&
    `${webhook.file} has no UID before it applies; then \`hookmill webhooks show ${webhook.name}\` prints it`
  );
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
