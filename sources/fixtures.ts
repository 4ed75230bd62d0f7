import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import { checkFixture, diagnoseFixture, parseFilterFixture } from '../schema/definitions/filter-fixture.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { definitionFolders, getDefinitionPath } from './definitions.ts';
import { readRegularFile } from './regular-file.ts';

/** @limit Largest fixture, in bytes: the largest payload of a delivery, and as much again around it. */
const fixtureBytesMax = 2 * 262_144;

const suffix = '.fixtures';

/** The result of one fixture. It has no diagnostics if its automation gave the expected verdict. */
export interface FixtureResult {
  readonly file: string;
  readonly automation: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
}

/**
 * Runs `automations/<name>.fixtures/*.json` of a definitions directory against the automations defined there.
 * `label` precedes file names in diagnostics.
 */
export function runFixtures(
  directory: string,
  label: string,
  automations: readonly AutomationDefinition[],
): FixtureResult[] {
  const folder = join(directory, definitionFolders.automation);
  const names = listEntries(folder).filter(entry => entry.endsWith(suffix));
  return names.flatMap(entry => {
    const name = entry.slice(0, -suffix.length);
    const automation = automations.find(automation => automation.name === name);
    const definition = posix.join(label, getDefinitionPath('automation', name));
    // The automation is invalid, and the diagnostics of its own file say so.
    if (!automation && existsSync(join(folder, `${name}.yaml`))) return [];
    const files = listEntries(join(folder, entry)).filter(file => file.endsWith('.json'));
    return files.map(file => {
      const shown = posix.join(label, definitionFolders.automation, entry, file);
      const text = readFixture(join(folder, entry, file), shown);
      if (typeof text !== 'string') return { file: shown, automation: name, diagnostics: [text], text: '' };
      const missing = `this fixture belongs to no automation: ${definition} does not exist`;
      const diagnostics = automation
        ? runFixture(text, shown, automation)
        : [rejectFixture(shown, missing, 'name the folder <automation>.fixtures')];
      return { file: shown, automation: name, diagnostics, text };
    });
  });
}

function runFixture(text: string, file: string, automation: AutomationDefinition): readonly Diagnostic[] {
  const parsed = parseFilterFixture(file, text);
  if (!parsed.ok) return parsed.diagnostics;
  const failure = diagnoseFixture(parsed.source, checkFixture(parsed.fixture, automation.triggers));
  return failure ? [failure] : [];
}

/** Reads a fixture's text, or says why it cannot be read. */
function readFixture(path: string, file: string): string | Diagnostic {
  try {
    const bytes = readRegularFile(path, fixtureBytesMax);
    if (!bytes)
      return rejectFixture(file, 'a fixture must be a regular file', 'put the file itself here, not a link');
    if (bytes.length <= fixtureBytesMax) return Buffer.from(bytes).toString();
    return rejectFixture(file, `the fixture is larger than ${fixtureBytesMax} bytes`, 'shorten its payload');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return rejectFixture(file, `the fixture cannot be read (${code})`, 'check its permissions');
  }
}

function rejectFixture(file: string, message: string, hint: string): Diagnostic {
  return { code: 'fixture/invalid', severity: 'error', message, file, hint };
}

/** The names in a folder, sorted; empty if there is no such folder. */
function listEntries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
