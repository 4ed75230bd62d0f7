import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import { parseAutomation, parseWebhook } from '../schema/definitions/parse-definition.ts';
import type { ParsedFile } from '../schema/definitions/parse-file.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { parseYaml } from '../schema/definitions/yaml-source.ts';
import { type Diagnostic, sortDiagnostics } from '../schema/diagnostics.ts';
import { compareNames } from '../schema/name.ts';
import { findCrossFileDiagnostics } from './cross-file-diagnostics.ts';
import type { DefinitionFile, DefinitionFiles } from './definition-files.ts';
import type { Definitions } from './definitions.ts';
import { parseWebhookName, withWebhookIdHints } from './webhook-id-hints.ts';

/** Parses the files of a source, and sorts their diagnostics. */
export function parseDefinitions(found: DefinitionFiles): Definitions {
  const { files } = found;
  const webhooks: WebhookDefinition[] = [];
  const automations: AutomationDefinition[] = [];
  const diagnostics: Diagnostic[] = [];
  const texts = new Map<string, string>();

  const take = <T>({ file }: DefinitionFile, parsed: ParsedFile<T>, definitions: T[]) => {
    texts.set(file, parsed.text);
    diagnostics.push(...parsed.diagnostics);
    if (parsed.definition) definitions.push(parsed.definition);
  };
  for (const definition of files) {
    const { kind, name, file, bytes } = definition;
    if (kind === 'webhook') take(definition, parseWebhook(name, file, bytes), webhooks);
    else take(definition, parseAutomation(name, file, bytes), automations);
  }
  const locate = makeLocator(files);
  return {
    webhooks: webhooks.sort(compareNames),
    automations: automations.sort(compareNames),
    diagnostics: sortDiagnostics([
      ...found.diagnostics,
      ...withWebhookIdHints(diagnostics, texts, written => hintAtFile(files, written)),
      ...findCrossFileDiagnostics(found, { automations, locate }),
    ]),
    fileCount: files.length,
    texts,
    locate,
  };
}

function makeLocator(files: readonly DefinitionFile[]): Definitions['locate'] {
  return (kind, name, path) => {
    const found = files.find(file => file.kind === kind && file.name === name);
    if (!found) throw new Error(`no ${kind} ${name} was parsed`);
    // Parses the file again, because few places are needed and keeping every parsed file would cost memory.
    const yaml = parseYaml(found.file, found.bytes);
    return { file: found.file, range: yaml.ok ? yaml.source.rangeOfValue(path) : undefined };
  };
}

/** Finds a hint for an author who wrote a webhook's name instead of its UID. */
function hintAtFile(files: readonly DefinitionFile[], written: string): string | undefined {
  const webhook = files.find(({ kind, name }) => kind === 'webhook' && name === parseWebhookName(written));
  return (
    webhook &&
    `${webhook.file} gets its UID when it is applied; \`hookmill webhooks show ${webhook.name}\` then prints it`
  );
}
