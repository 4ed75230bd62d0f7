import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { outcomes, runStates } from '../../schema/delivery.ts';
import { namePattern } from '../../schema/names.ts';
import { type DefinitionKind, definitionFolders } from '../../sources/definitions.ts';
import type { Store } from '../../store/ports/store.ts';
import type { Candidate, Completion, Source } from './complete.ts';

/** @limit Most deliveries or runs that a completion offers: nobody chooses from more. */
const rowsMax = 50;

/** Reads the candidates of a source. Returns none on an error, because a completion must not print errors. */
export async function readValues(
  source: Source,
  given: Completion['given'],
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[]> {
  const directory = resolve(given.get('directory') ?? '.');
  const home = resolve(given.get('home') ?? env.HOOKMILL_HOME ?? join(directory, '.hookmill'));
  const url = given.get('store') ?? env.HOOKMILL_STORE;
  const open = () => openForReading(home, url);
  const factory = async () =>
    given.get('factory') ?? env.HOOKMILL_FACTORY ?? (await readFactoryName(directory));
  if (source === 'deliveries' || source === 'runs') {
    const wanted = { factory: await factory(), limit: rowsMax };
    return tryRead(async () => readRows[source](await open(), wanted), []);
  }
  const names = await readNames(source, directory, open, factory);
  return names.map(value => ({ value }));
}

/** Reads the newest rows of the delivery log. */
const readRows = {
  deliveries: async ({ deliveries }: Store, wanted: { factory: string; limit: number }) =>
    (await deliveries.listDeliveries(wanted)).map(({ id, webhook, outcome, atMs }) => {
      return { value: id, description: `${outcome}, ${webhook}, ${new Date(atMs).toISOString()}` };
    }),
  runs: async ({ deliveries }: Store, wanted: { factory: string; limit: number }) =>
    (await deliveries.listRuns(wanted)).map(({ id, automation, state, createdAtMs }) => {
      return { value: id, description: `${state}, ${automation}, ${new Date(createdAtMs).toISOString()}` };
    }),
};

async function readNames(
  source: Exclude<Source, 'deliveries' | 'runs'>,
  directory: string,
  open: () => Promise<Store>,
  factory: () => Promise<string>,
): Promise<readonly string[]> {
  switch (source) {
    case 'webhooks':
      return sortUnique([
        ...(await readDefined(directory, 'webhook')),
        ...(await readApplied(open, await factory(), 'webhooks')),
      ]);
    case 'automations':
      return sortUnique([
        ...(await readDefined(directory, 'automation')),
        ...(await readApplied(open, await factory(), 'automations')),
      ]);
    case 'secrets':
      return tryRead(async () => (await open()).teamSecrets.listNames(), []);
    case 'factories':
      return tryRead(async () => (await open()).appliedStates.listFactories(), []);
    case 'schemes':
      return readSchemeIds();
    case 'senders':
      return ['token', 'url_token', ...(await readSchemeIds())];
    case 'outcomes':
      return outcomes;
    case 'runStates':
      return runStates;
  }
}

/** Loads the schemes only when needed: they load the definition shapes, which take longer than everything else. */
async function readSchemeIds(): Promise<readonly string[]> {
  return (await import('../../signatures/schemes.ts')).schemeIds;
}

async function readDefined(directory: string, kind: DefinitionKind): Promise<readonly string[]> {
  const names = await tryRead(() => readdirSync(join(directory, definitionFolders[kind])), []);
  return names.filter(name => name.endsWith('.yaml')).map(name => name.slice(0, -'.yaml'.length));
}

async function readApplied(
  open: () => Promise<Store>,
  factory: string,
  list: 'webhooks' | 'automations',
): Promise<readonly string[]> {
  if (!namePattern.test(factory)) return [];
  return tryRead(async () => {
    const state = await (await open()).appliedStates.read(factory);
    return state[list].map(({ name }) => name);
  }, []);
}

/** Loads the store only when needed. */
async function openForReading(home: string, url: string | undefined): Promise<Store> {
  const { openStore } = await import('../../store/open-store.ts');
  const now = () => new Date();
  const postgres = url ? { url, mayLose: false } : undefined;
  return openStore({ home, postgres, environment: {}, lockTimeoutMs: 0, now, readsInThread: false });
}

async function readFactoryName(directory: string): Promise<string> {
  const text = await tryRead(() => readFileSync(join(directory, 'hookmill.yaml'), 'utf8'), '');
  return /^factory:\s*["']?([a-z0-9-]+)/m.exec(text)?.[1] ?? 'default';
}

async function tryRead<T>(read: () => T | Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch {
    return otherwise;
  }
}

function sortUnique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
