import { promptPath } from '../schema/definitions/prompts.ts';
import { parseYaml } from '../schema/definitions/yaml-source.ts';
import type { DefinitionFile } from './definitions.ts';

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
