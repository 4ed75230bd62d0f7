import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { AutomationDefinition } from '../schema/automation-definition.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { checkFixture, fixtureFailure, parseFilterFixture } from '../schema/filter-fixture.ts';
import { fixtureBytesMax } from '../schema/limits.ts';
import { definitionFolders } from './definition-file-name.ts';
import { readRegularFile } from './regular-file.ts';

const suffix = '.fixtures';

/** What became of one fixture; without diagnostics, its automation judges the payload as expected. */
export interface FixtureResult {
  readonly file: string;
  readonly automation: string;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Runs `automations/<name>.fixtures/*.json` of a definitions directory against the automations defined there.
 * `label` is put before file names, as for definitions.
 */
export function runFixtures(
  directory: string,
  label: string,
  automations: readonly AutomationDefinition[],
): FixtureResult[] {
  const folder = join(directory, definitionFolders.automation);
  const names = entriesOf(folder).filter(entry => entry.endsWith(suffix));
  return names.flatMap(entry => {
    const name = entry.slice(0, -suffix.length);
    const automation = automations.find(automation => automation.name === name);
    const files = entriesOf(join(folder, entry)).filter(file => file.endsWith('.json'));
    return files.map(file => {
      const shown = posix.join(label, definitionFolders.automation, entry, file);
      return {
        file: shown,
        automation: name,
        diagnostics: run(join(folder, entry, file), shown, automation),
      };
    });
  });
}

function run(
  path: string,
  file: string,
  automation: AutomationDefinition | undefined,
): readonly Diagnostic[] {
  const invalid = (message: string): Diagnostic[] => [
    { code: 'fixture/invalid', severity: 'error', message, file },
  ];
  const bytes = readRegularFile(path, fixtureBytesMax);
  if (!bytes) return invalid('a fixture is a regular file');
  if (bytes.length > fixtureBytesMax) return invalid(`a fixture has at most ${fixtureBytesMax} bytes`);
  const parsed = parseFilterFixture(file, Buffer.from(bytes).toString());
  if (!parsed.ok) return parsed.diagnostics;
  if (!automation) return invalid('there is no valid automation that this fixture belongs to');
  const failure = fixtureFailure(file, checkFixture(parsed.fixture, automation.triggers));
  return failure ? [failure] : [];
}

/** Names in a folder, sorted; none where there is no such folder. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
