import type { AppliedStates, Store } from '../../store/ports/store.ts';
import { makeRunVerbs, type QueueableRuns } from '../factory.ts';
import { type BegunChange, beginChange, type ChangeToRecord } from './audit.ts';

/** The store and the delivery log that a request changes, and the name of the caller. */
export interface Changeable {
  readonly store: Store;
  readonly deliveryLog: QueueableRuns;
  /** Who asks, as lists name them; empty for a request that only reads. */
  readonly by: string;
  /** Begins the entry of a change that is made by other means than these parts. */
  readonly begin: (factory?: string | null) => Promise<unknown>;
}

/**
 * Does the work of a request on parts whose first write begins the entry of the change. So a request that is refused
 * before it writes anything leaves no trace in the audit log. `describe` returns the subject of the entry; with null,
 * nothing was changed. If the entry cannot be finished after the change, it stays unfinished, and this does not fail.
 */
export async function recordWrites<T>(
  { store, deliveryLog, now }: Pick<Changeable, 'store' | 'deliveryLog'> & { readonly now: () => Date },
  planned: ChangeToRecord,
  work: (parts: Changeable) => Promise<T>,
  describe: (result: T) => string | null,
): Promise<T> {
  let beginning: Promise<BegunChange> | undefined;
  const begin = (factory = planned.factory) => {
    beginning ??= beginChange({ store, now }, { ...planned, factory });
    return beginning;
  };
  const parts = beforeWrites({ store, deliveryLog, by: planned.who.name, begin });
  const result = await work(parts).catch(async (error: unknown) => {
    await (await beginning?.catch(() => undefined))?.endFailed(error);
    throw error;
  });
  await (await beginning)?.end(describe(result)).catch(() => undefined);
  return result;
}

/** A part of the store. The audit log and the reader of the delivery log have no verb of a change. */
type Part = Exclude<Parts, 'place' | 'auditLog' | 'deliveries'>;
type Parts = { [Name in keyof Store]: Store[Name] extends Verb ? never : Name }[keyof Store];
type Verb = (...given: never[]) => unknown;

/** The verbs of the store that need no entry, because they read, learn or note a use. Any other begins one. */
const quietVerbs = {
  appliedStates: ['listFactories', 'read', 'readEach', 'readVersion', 'watch'],
  teamSecrets: ['list', 'listNames', 'open'],
  apiTokens: ['list', 'find', 'wasRevoked', 'recordUses'],
  sessions: ['find', 'list', 'recordUse'],
  reconcileStatuses: ['read'],
  alerts: ['read'],
  issuerKeys: ['read'],
  offeredRunners: ['read'],
  senderStates: ['read', 'learn'],
  runFiles: ['locate', 'locateOutput', 'readOutput', 'listArtifacts', 'readArtifact', 'list'],
  mirrors: ['use'],
  daemonAddress: ['read'],
  seal: ['seal', 'open', 'opener', 'reseal', 'deriveKeys'],
  replicas: ['countEvent', 'takeTurn', 'describe'],
} as const satisfies { readonly [Name in Part]: readonly (keyof NonNullable<Store[Name]>)[] };
const quietOfStore = [
  'check',
  'checkDeliveryLog',
  'openSnapshot',
  'requireSafe',
  'close',
] as const satisfies readonly Exclude<keyof Store, Parts>[];

/** Calls `begin` before each write that a request can cause, and waits for it. A token may be for other factories. */
function beforeWrites({ store, deliveryLog, by, begin }: Changeable): Changeable {
  const after =
    <Args extends unknown[], T>(write: (...args: Args) => Promise<T>) =>
    async (...args: Args) => {
      await begin();
      return write(...args);
    };
  const wrap = <Verbs extends object>(verbs: Verbs, quiet: readonly string[]): Verbs =>
    Object.fromEntries(
      Object.entries(verbs).map(([name, verb]) => {
        return [name, typeof verb === 'function' && !quiet.includes(name) ? after(verb) : verb];
      }),
    ) as Verbs;
  const parts = Object.entries(quietVerbs).map(([name, quiet]) => {
    const part = store[name as Part];
    return [name, part && wrap(part, quiet)];
  });
  const wrapped: Store = { ...wrap(store, quietOfStore), ...Object.fromEntries(parts) };
  const { appliedStates, apiTokens } = store;
  const change: AppliedStates['change'] = (factory, decide) =>
    appliedStates.change(factory, async state => {
      const decided = await decide(state);
      if (decided.next) await begin();
      return decided;
    });
  return {
    ...{ by, begin },
    store: {
      ...wrapped,
      appliedStates: { ...wrapped.appliedStates, change },
      apiTokens: {
        ...wrapped.apiTokens,
        create: async token => {
          await begin(token.factory);
          return apiTokens.create(token);
        },
        revoke: async sha256 => {
          await begin((await apiTokens.find(sha256))?.factory);
          return apiTokens.revoke(sha256);
        },
      },
    },
    deliveryLog: makeRunVerbs(verb => after<never[], unknown>(deliveryLog[verb])),
  };
}
