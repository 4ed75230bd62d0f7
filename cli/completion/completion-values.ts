import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { outcomes } from '../../schema/delivery.ts';
import { namePattern } from '../../schema/name.ts';
import { definitionFolders } from '../../sources/definition-file-name.ts';
import type { DefinitionKind } from '../../sources/definition-files.ts';
import type { Store } from '../../store/ports.ts';
import type { Completion, Source } from './complete.ts';

/** The names that a source has, as far as they can be read: nobody wants to see the errors of a completion. */
export async function completionValues(
  source: Source,
  given: Completion['given'],
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const directory = resolve(given.get('directory') ?? '.');
  const home = resolve(given.get('home') ?? env.HOOKMILL_HOME ?? join(directory, '.hookmill'));
  const factory = async () =>
    given.get('factory') ?? env.HOOKMILL_FACTORY ?? (await readFactoryName(directory));
  switch (source) {
    case 'webhooks':
      return unique([
        ...(await defined(directory, 'webhook')),
        ...(await applied(home, await factory(), 'webhooks')),
      ]);
    case 'automations':
      return unique([
        ...(await defined(directory, 'automation')),
        ...(await applied(home, await factory(), 'automations')),
      ]);
    case 'secrets':
      return attempt(async () => (await openHome(home)).teamSecrets.listNames(), []);
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
  return (await import('../../signatures/schemes.ts')).schemeIds;
}

async function defined(directory: string, kind: DefinitionKind): Promise<readonly string[]> {
  const names = await attempt(() => readdirSync(join(directory, definitionFolders[kind])), []);
  return names.filter(name => name.endsWith('.yaml')).map(name => name.slice(0, -'.yaml'.length));
}

async function applied(
  home: string,
  factory: string,
  list: 'webhooks' | 'automations',
): Promise<readonly string[]> {
  if (!namePattern.test(factory)) return [];
  return attempt(async () => {
    const state = await (await openHome(home)).appliedStates.read(factory);
    return state[list].map(({ name }) => name);
  }, []);
}

/** Loaded only when it is asked for, as the schemes are. */
async function openHome(home: string): Promise<Store> {
  const { openStore } = await import('../../store/open-store.ts');
  const now = () => new Date();
  return openStore({ home, environment: {}, lockTimeoutMs: 0, now, readsInThread: false });
}

async function readFactoryName(directory: string): Promise<string> {
  const text = await attempt(() => readFileSync(join(directory, 'hookmill.yaml'), 'utf8'), '');
  return /^factory:\s*["']?([a-z0-9-]+)/m.exec(text)?.[1] ?? 'default';
}

async function attempt<T>(read: () => T | Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch {
    return otherwise;
  }
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
