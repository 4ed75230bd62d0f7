import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { checkFixture, diagnoseFixture, parseFilterFixture } from '../schema/filters/filter-fixture.ts';
import { definitionFolders } from './definition-file-name.ts';
import { readRegularFile } from './regular-file.ts';

/** @limit Largest fixture, in bytes: a payload as large as a delivery's, with the same again around it. */
const fixtureBytesMax = 2 * 262_144;

const suffix = '.fixtures';

/** What became of one fixture; without diagnostics, its automation judges the payload as expected. */
export interface FixtureResult {
  readonly file: string;
  readonly automation: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
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
    const definition = posix.join(label, definitionFolders.automation, `${name}.yaml`);
    // What is wrong with an automation is told of its own file, not of each of its fixtures.
    if (!automation && existsSync(join(folder, `${name}.yaml`))) return [];
    const files = entriesOf(join(folder, entry)).filter(file => file.endsWith('.json'));
    return files.map(file => {
      const shown = posix.join(label, definitionFolders.automation, entry, file);
      const text = readFixture(join(folder, entry, file), shown);
      if (typeof text !== 'string') return { file: shown, automation: name, diagnostics: [text], text: '' };
      const missing = `there is no ${definition} that this fixture belongs to`;
      const diagnostics = automation
        ? run(text, shown, automation)
        : [invalid(shown, missing, 'name the folder after its automation')];
      return { file: shown, automation: name, diagnostics, text };
    });
  });
}

function run(text: string, file: string, automation: AutomationDefinition): readonly Diagnostic[] {
  const parsed = parseFilterFixture(file, text);
  if (!parsed.ok) return parsed.diagnostics;
  const failure = diagnoseFixture(parsed.source, checkFixture(parsed.fixture, automation.triggers));
  return failure ? [failure] : [];
}

/** Its text, or why there is none. */
function readFixture(path: string, file: string): string | Diagnostic {
  try {
    const bytes = readRegularFile(path, fixtureBytesMax);
    if (!bytes) return invalid(file, 'a fixture is a regular file', 'put the file itself here');
    if (bytes.length <= fixtureBytesMax) return Buffer.from(bytes).toString();
    return invalid(file, `a fixture has at most ${fixtureBytesMax} bytes`, 'shorten the payload');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return invalid(file, `the fixture cannot be read (${code})`, 'check its permissions');
  }
}

function invalid(file: string, message: string, hint: string): Diagnostic {
  return { code: 'fixture/invalid', severity: 'error', message, file, hint };
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
