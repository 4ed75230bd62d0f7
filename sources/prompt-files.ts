import { type FoundPrompt, promptPath } from '../schema/definitions/prompts.ts';
import { parseYaml } from '../schema/definitions/yaml-source.ts';
import type { DefinitionFile, Entry } from './definitions.ts';

/** Lists the paths of the prompt files that automations name, relative to the definitions directory. */
export function listPromptPaths(files: readonly DefinitionFile[]): string[] {
  const paths = files.flatMap(({ kind, file, bytes }) => {
    // Only few files need to be parsed for it, and it is a promptFile only if the parser says so.
    if (kind !== 'automation' || !Buffer.from(bytes).includes('promptFile')) return [];
    const yaml = parseYaml(file, bytes);
    const value = yaml.ok ? yaml.source.value : undefined;
    const { data } = promptPath.safeParse((value as { readonly promptFile?: unknown } | null)?.promptFile);
    return data === undefined ? [] : [data];
  });
  return [...new Set(paths)];
}

/** Finds the prompt files among the entries at their paths and on the way there. One that is missing has no entry. */
export function collectPrompts(
  paths: readonly string[],
  entries: Iterable<Entry>,
): ReadonlyMap<string, FoundPrompt> {
  const byPath = new Map([...entries].map(entry => [entry.path, entry]));
  const found = paths.map(path => [path, findPrompt(path, byPath)] as const);
  return new Map(found.filter(([, prompt]) => prompt !== 'missing'));
}

function findPrompt(path: string, entries: ReadonlyMap<string, Entry>): FoundPrompt {
  const names = path.split('/');
  const folders = names.slice(0, -1).map((_, index) => entries.get(names.slice(0, index + 1).join('/')));
  if (folders.some(folder => folder !== undefined && folder.kind !== 'folder')) return 'irregular';
  const { kind, bytes = 'ENOENT' } = entries.get(path) ?? { kind: 'file' };
  if (kind !== 'file') return 'irregular';
  if (typeof bytes !== 'string' || bytes === 'too-large') return bytes;
  return bytes === 'ENOENT' ? 'missing' : 'unreadable';
}
