import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { outcomes } from '../../schema/delivery.ts';
import { namePattern } from '../../schema/name.ts';
import { definitionFolders } from '../../sources/definition-file-name.ts';
import type { DefinitionKind } from '../../sources/definitions.ts';
import { appliedStateFile, type Home, homeAt } from '../../store/embedded/files/home.ts';
import type { Completion, Source } from './complete.ts';

/**
 * The names that a source has, as far as they can be read at once: nobody waits for a completion, and nobody wants to
 * see its errors. So files are not parsed but for the names in them, and what cannot be read has none.
 */
export async function completionValues(
  source: Source,
  given: Completion['given'],
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const directory = resolve(given.get('directory') ?? '.');
  const home = homeAt(resolve(given.get('home') ?? env.HOOKMILL_HOME ?? join(directory, '.hookmill')));
  const factory = () => given.get('factory') ?? env.HOOKMILL_FACTORY ?? factoryOf(directory);
  switch (source) {
    case 'webhooks':
      return unique([...defined(directory, 'webhook'), ...applied(home, factory(), 'webhooks')]);
    case 'automations':
      return unique([...defined(directory, 'automation'), ...applied(home, factory(), 'automations')]);
    case 'secrets':
      return namesIn(home.secretsFile, 'secrets');
    case 'schemes':
      return schemeIds();
    case 'senders':
      return ['token', 'url_token', ...(await schemeIds())];
    case 'outcomes':
      return outcomes;
  }
}

/** Loaded only when they are asked for: with the shapes of definitions, they take longer than all the rest. */
async function schemeIds(): Promise<readonly string[]> {
  return (await import('../../signatures/scheme.ts')).schemeIds;
}

function defined(directory: string, kind: DefinitionKind): readonly string[] {
  const names = attempt(() => readdirSync(join(directory, definitionFolders[kind])), []);
  return names.filter(name => name.endsWith('.yaml')).map(name => name.slice(0, -'.yaml'.length));
}

function applied(home: Home, factory: string, list: 'webhooks' | 'automations'): readonly string[] {
  return namePattern.test(factory) ? namesIn(appliedStateFile(home, factory), list) : [];
}

function factoryOf(directory: string): string {
  const text = attempt(() => readFileSync(join(directory, 'hookmill.yaml'), 'utf8'), '');
  return /^factory:\s*["']?([a-z0-9-]+)/m.exec(text)?.[1] ?? 'default';
}

function namesIn(file: string, list: string): readonly string[] {
  const entries = attempt((): unknown => JSON.parse(readFileSync(file, 'utf8'))[list], []);
  return Array.isArray(entries) ? entries.flatMap(entry => nameOf(entry)) : [];
}

function nameOf(entry: unknown): readonly string[] {
  const isNamed = typeof entry === 'object' && entry !== null && 'name' in entry;
  return isNamed && typeof entry.name === 'string' ? [entry.name] : [];
}

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
