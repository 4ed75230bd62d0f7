import { type AutomationDefinition, parseAutomation } from '../schema/automation-definition.ts';
import type { ParsedFile } from '../schema/definition.ts';
import { type Diagnostic, type Range, sortDiagnostics } from '../schema/diagnostics.ts';
import { webhooksMax } from '../schema/limits.ts';
import { parseWebhook, type WebhookDefinition } from '../schema/webhook-definition.ts';
import { parseYaml } from '../schema/yaml-source.ts';

export type DefinitionKind = 'webhook' | 'automation';

/** A definition file as a source found it. `file` is how diagnostics name it. */
export interface DefinitionFile {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** What a source has: the definition files, and what is wrong with others that stand beside them. */
export interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The desired state: what the definition files say, and all that is wrong with them. */
export interface Definitions {
  readonly webhooks: readonly WebhookDefinition[];
  readonly automations: readonly AutomationDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  readonly fileCount: number;
  /** The text of each file by its name in diagnostics, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
  /** Where a part of a definition stands. */
  readonly locate: (kind: DefinitionKind, name: string, path: readonly PropertyKey[]) => Place;
}

export interface Place {
  readonly file: string;
  readonly range?: Range;
}

export function parseDefinitions({ files, diagnostics }: DefinitionFiles): Definitions {
  const webhooks: WebhookDefinition[] = [];
  const automations: AutomationDefinition[] = [];
  const problems: Diagnostic[] = [...diagnostics];
  const texts = new Map<string, string>();

  const take = <T>({ file }: DefinitionFile, parsed: ParsedFile<T>, definitions: T[]) => {
    texts.set(file, parsed.text);
    problems.push(...parsed.diagnostics);
    if (parsed.definition) definitions.push(parsed.definition);
  };
  for (const found of files) {
    const { kind, name, file, bytes } = found;
    if (kind === 'webhook') take(found, parseWebhook(name, file, bytes), webhooks);
    else take(found, parseAutomation(name, file, bytes), automations);
  }
  problems.push(...tooManyWebhooks(files));
  return {
    webhooks: webhooks.sort(byName),
    automations: automations.sort(byName),
    diagnostics: sortDiagnostics(problems),
    fileCount: files.length,
    texts,
    locate: (kind, name, path) => {
      const found = files.find(file => file.kind === kind && file.name === name);
      if (!found) throw new Error(`there is no ${kind} ${name} to locate`);
      // Parsed once more: few places are asked for, and every parsed file would have to be kept for them.
      const yaml = parseYaml(found.file, found.bytes);
      return { file: found.file, range: yaml.ok ? yaml.source.rangeOfValue(path) : undefined };
    },
  };
}

function tooManyWebhooks(files: readonly DefinitionFile[]): Diagnostic[] {
  const webhooks = files.filter(({ kind }) => kind === 'webhook').map(({ file }) => file);
  const first = webhooks.sort()[webhooksMax];
  if (first === undefined) return [];
  return [
    {
      code: 'webhook/too-many',
      severity: 'error',
      message: `a factory has at most ${webhooksMax} webhooks, here are ${webhooks.length}`,
      file: first,
      hint: 'move some to another factory',
    },
  ];
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
