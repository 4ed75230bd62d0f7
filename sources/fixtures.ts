import { posix } from 'node:path';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import { checkFixture, diagnoseFixture, parseFilterFixture } from '../schema/definitions/filter-fixture.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { compareNames } from '../schema/names.ts';
import type { DefinitionFiles, FixtureFile } from './definitions.ts';
import { fixtureBytesMax } from './read-entries.ts';

/** The result of one fixture. It has no diagnostics if its automation gave the expected verdict. */
export interface FixtureResult {
  readonly file: string;
  readonly automation: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
}

/** Runs the fixtures of a definitions directory, with their bytes, against the automations defined there. */
export function runFixtures(
  { files, fixtures = [] }: DefinitionFiles,
  automations: readonly AutomationDefinition[],
): FixtureResult[] {
  const defined = new Set(files.flatMap(({ kind, name }) => (kind === 'automation' ? [name] : [])));
  const byName = new Map(automations.map(automation => [automation.name, automation]));
  const sorted = fixtures.map(fixture => ({ ...fixture, name: fixture.file })).sort(compareNames);
  return sorted.flatMap(({ file, automation: name, bytes }) => {
    const automation = byName.get(name);
    // The automation is invalid, and the diagnostics of its own file say so.
    if (!automation && defined.has(name)) return [];
    const text = readText({ file, bytes });
    if (typeof text !== 'string') return { file, automation: name, diagnostics: [text], text: '' };
    const definition = posix.join(file, '../..', `${name}.yaml`);
    const missing = `this fixture belongs to no automation: ${definition} does not exist`;
    const diagnostics = automation
      ? runFixture(text, file, automation)
      : [rejectFixture(file, missing, 'name the folder <automation>.fixtures')];
    return { file, automation: name, diagnostics, text };
  });
}

function runFixture(text: string, file: string, automation: AutomationDefinition): readonly Diagnostic[] {
  const parsed = parseFilterFixture(file, text);
  if (!parsed.ok) return parsed.diagnostics;
  const failure = diagnoseFixture(parsed.source, checkFixture(parsed.fixture, automation.triggers));
  return failure ? [failure] : [];
}

/** Returns a fixture's text, or says why it cannot be read. */
function readText({ file, bytes }: Pick<FixtureFile, 'file' | 'bytes'>): string | Diagnostic {
  if (bytes === undefined || typeof bytes === 'string')
    return rejectFixture(file, `the fixture cannot be read (${bytes})`, 'check its permissions');
  if (bytes.length <= fixtureBytesMax) return Buffer.from(bytes).toString();
  return rejectFixture(file, `the fixture is larger than ${fixtureBytesMax} bytes`, 'shorten its payload');
}

function rejectFixture(file: string, message: string, hint: string): Diagnostic {
  return { code: 'fixture/invalid', severity: 'error', message, file, hint };
}
