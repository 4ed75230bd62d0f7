import type { DiagnosticCode } from '../schema/diagnostics.ts';
import { namePattern, nameRule } from '../schema/name.ts';
import type { DefinitionFiles, DefinitionKind } from './definition-files.ts';

export const definitionFolders: Readonly<Record<DefinitionKind, string>> = {
  webhook: 'webhooks',
  automation: 'automations',
};

/** The name of the definition in a file of this name; undefined where the name breaks the rule. */
export function definitionNameOf(fileName: string): string | undefined {
  if (!fileName.endsWith('.yaml')) return undefined;
  const name = fileName.slice(0, -'.yaml'.length);
  return namePattern.test(name) ? name : undefined;
}

/** What may stand beside definitions: hidden files, which are editors' and git's own, and fixtures of automations. */
export function isNoDefinition(kind: DefinitionKind, fileName: string, isDirectory: boolean): boolean {
  if (fileName.startsWith('.')) return true;
  return kind === 'automation' && isDirectory && fileName.endsWith('.fixtures');
}

// Passing over what is meant as a definition could destroy its webhook, so that is an error; a README is none.
const meantAsDefinition = /\.ya?ml$/i;

export function misnamed(file: string): DefinitionFiles {
  if (meantAsDefinition.test(file)) {
    const hint = `name it ${nameMeant(file) ?? '<name>.yaml'}: ${nameRule}`;
    return refused(file, 'definition/file-name', 'not the name of a definition file', hint);
  }
  const message = 'not a definition file, so it is passed over';
  return {
    files: [],
    diagnostics: [
      { code: 'definition/file-name', severity: 'warning', message, file, hint: 'keep it elsewhere' },
    ],
  };
}

/** The file name that differs from this one by no more than the rule asks. */
function nameMeant(file: string): string | undefined {
  const name = (file.split('/').at(-1) ?? '')
    .toLowerCase()
    .replace(meantAsDefinition, '')
    .replaceAll(/[_. ]/g, '-');
  return namePattern.test(name) ? `${name}.yaml` : undefined;
}

export function notRegularFile(file: string): DefinitionFiles {
  const hint = 'put the file itself here: neither a link nor a folder';
  return refused(file, 'definition/not-regular-file', 'a definition must be a regular file', hint);
}

/** No file, and one diagnostic that says why. */
export function refused(file: string, code: DiagnosticCode, message: string, hint: string): DefinitionFiles {
  return { files: [], diagnostics: [{ code, severity: 'error', message, file, hint }] };
}
