import { requireAutomation } from '../../operations/applied/require-applied.ts';
import type { AutomationDefinition } from '../../schema/definitions/automation-definition.ts';
import { type Definitions, getDefinitionPath } from '../../sources/definitions.ts';
import type { Backend } from '../backend/backend.ts';
import { CommandError } from '../exit-status.ts';
import type { Place } from '../global-options.ts';
import { printFindings } from '../output.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';

/**
 * Finds the definition of an automation in the definitions directory; undefined if only an applied one has the name.
 * Fails if there is neither, or if the definition has mistakes.
 */
export async function findDraft(
  name: string,
  { backend, directory, factory }: Pick<Place, 'directory' | 'factory'> & { readonly backend: Backend },
): Promise<AutomationDefinition | undefined> {
  const draft = findDefinition(name, await readDefinitions(directory));
  if (!draft) requireAutomation({ factory, ...(await backend.call('listAutomations')) }, name);
  return draft;
}

/** Reads the definitions of a directory. */
export async function readDefinitions(directory: string): Promise<Definitions> {
  const [{ readDirectory }, { parseDefinitions }] = await Promise.all([
    import('../../sources/directory-source.ts'),
    import('../../sources/parse-definitions.ts'),
  ]);
  return parseDefinitions(readDirectory(directory));
}

/** Finds a definition in the work tree. Fails if it has mistakes, instead of falling back to the applied one. */
export function findDefinition(
  name: string,
  { automations, diagnostics, texts }: Definitions,
): AutomationDefinition | undefined {
  const definition = automations.find(automation => automation.name === name);
  if (definition) return definition;
  const file = getDefinitionPath('automation', name);
  const mistakes = diagnostics.filter(diagnostic => diagnostic.file === file);
  if (mistakes.length === 0) return undefined;
  printFindings(renderDiagnostics(mistakes, texts));
  throw new CommandError(`the definition of the automation ${name} has mistakes`);
}
