import { posix } from 'node:path';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { ParsedSource } from '../schema/definitions/json-source.ts';
import { parseAutomation } from '../schema/definitions/parse-automation.ts';
import type { ParsedFile } from '../schema/definitions/parse-file.ts';
import { parseWebhook } from '../schema/definitions/parse-webhook.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { type ParsedYaml, parseYaml } from '../schema/definitions/yaml-source.ts';
import {
  type Diagnostic,
  diagnosticsReportedMax,
  type Range,
  sortDiagnostics,
} from '../schema/diagnostics.ts';
import { measureFactory } from '../schema/factory-size.ts';
import { compareNames } from '../schema/names.ts';
import { findCrossFileDiagnostics } from './cross-file-diagnostics.ts';
import type {
  AsideDefinition,
  AsideFile,
  DefinitionFile,
  DefinitionFiles,
  Definitions,
} from './definitions.ts';
import { diagnoseOversize, findOversize } from './oversize.ts';
import { suggestName } from './read-entries.ts';

/**
 * Parses the files of a source, and sorts their diagnostics. Parses none if they are too many or too large, and no more
 * once the automations exceed a limit of the factory.
 */
export function parseDefinitions(found: DefinitionFiles): Definitions {
  const oversize = findOversize(found);
  const { length: fileCount } = found.files;
  if (!oversize) return { ...parseAll(found), fileCount };
  return { ...parseAll({ files: [], diagnostics: [...found.diagnostics, oversize] }), fileCount };
}

function parseAll(found: DefinitionFiles): Omit<Definitions, 'fileCount'> {
  const { files, prompts } = found;
  const webhooks: WebhookDefinition[] = [];
  const automations: AutomationDefinition[] = [];
  const diagnostics: Diagnostic[] = [];
  const texts = new Map<string, string>();

  const take = <T>({ file }: DefinitionFile, parsed: ParsedFile<T>, definitions: T[]) => {
    texts.set(file, parsed.text);
    diagnostics.push(...parsed.diagnostics);
    if (parsed.definition) definitions.push(parsed.definition);
    return parsed.definition;
  };
  const findExcess = measureFactory();
  for (const definition of files) {
    const { kind, name, file, bytes } = definition;
    if (kind === 'webhook') take(definition, parseWebhook(name, file, bytes), webhooks);
    else {
      const automation = take(definition, parseAutomation(name, file, bytes, prompts), automations);
      const excess = automation && findExcess(automation);
      if (excess === undefined) continue;
      diagnostics.push(diagnoseOversize('automations', excess));
      break;
    }
  }
  const locate = makeLocator(files);
  return {
    webhooks: webhooks.sort(compareNames),
    automations: automations.sort(compareNames),
    diagnostics: sortDiagnostics([
      ...found.diagnostics,
      ...diagnostics,
      ...findCrossFileDiagnostics(found, { automations, locate }),
    ]),
    asides: found.asides?.map(aside => parseAside(aside, prompts)) ?? [],
    texts,
    locate,
  };
}

function parseAside({ kind, file, bytes }: AsideFile, prompts: DefinitionFiles['prompts']): AsideDefinition {
  const name = suggestName(posix.basename(file));
  const parsed =
    kind === 'webhook' ? parseWebhook('', file, bytes) : parseAutomation('', file, bytes, prompts);
  return { kind, file, name, definition: parsed.definition };
}

function makeLocator(files: readonly DefinitionFile[]): Definitions['locate'] {
  let byName: ReadonlyMap<string, DefinitionFile> | undefined;
  let last: { readonly file: string; readonly yaml: ParsedYaml } | undefined;
  let located = 0;
  return (kind, name, path) => {
    byName ??= new Map(files.map(file => [`${file.kind} ${file.name}`, file]));
    const found = byName.get(`${kind} ${name}`);
    if (!found) throw new Error(`no ${kind} ${name} was parsed`);
    const { file, bytes } = found;
    if (located++ >= diagnosticsReportedMax) return { file };
    // Parses the file again, because few places are needed and keeping every parsed file would cost memory. Keeps the
    // last one, because several places of one file are asked for in a row.
    if (last?.file !== file) last = { file, yaml: parseYaml(file, bytes) };
    const { yaml } = last;
    return { file, range: yaml.ok ? findRange(yaml.source, path) : undefined };
  };
}

/** Finds the range of a value. A prompt may be in a file of its own, and its place is where that file is named. */
function findRange({ value, rangeOfValue }: ParsedSource, path: readonly PropertyKey[]): Range {
  const isElsewhere = path[0] === 'prompt' && Object.hasOwn(value as object, 'promptFile');
  return rangeOfValue(isElsewhere ? ['promptFile'] : path);
}
