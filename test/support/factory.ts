import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyDefinitions } from '../../operations/applied/apply.ts';
import type { Factory } from '../../operations/factory.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { type Home, homeAt } from '../../store/home/home.ts';
import { factoryIn, type TestFactory } from './stored.ts';

/** Opens a factory in a new home, or in the given one. */
export function makeFactory(home: Home = newHome(), name = 'default'): TestFactory {
  return factoryIn(home, name, 0);
}

export function newHome(): Home {
  return homeAt(join(mkdtempSync(join(tmpdir(), 'home-')), 'home'));
}

/** Applies the definitions of a directory, and destroys webhooks and automations that are not in it. */
export function applyDirectory(factory: Factory, directory: string) {
  const definitions = parseDefinitions(readDirectory(directory));
  return applyDefinitions(factory, definitions, { kind: 'directory', directory }, async () => true);
}
