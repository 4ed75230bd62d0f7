import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);

interface Patch {
  readonly file: string;
  readonly text: string;
  /** Put in the place of the text. */
  readonly by: string;
}

/** The defects that the simulation must find: each was once in hookmill, or would be if a line were forgotten. */
export const defects = {
  /** Work in progress is remembered until a callback after its end: a call in between is not answered. */
  'lost wake': {
    file: 'daemon/background-work.ts',
    text: `  return () => {
    if (!next) {
      next = last.then(begin, begin);
      last = next;
    }
    return next;
  };`,
    by: `  let woken = false;
  const workWhileWoken = async () => {
    while (woken) {
      woken = false;
      await work();
    }
  };
  return () => {
    woken = true;
    last = next ??= workWhileWoken().finally(() => {
      next = undefined;
    });
    return last;
  };`,
  },
  /** Work that waits for the end of other work begins a turn after it: a call in between begins some beside it. */
  'double scan': {
    file: 'daemon/background-work.ts',
    text: `  return () => {
    if (!next) {
      next = last.then(begin, begin);
      last = next;
    }
    return next;
  };`,
    by: `  let running;
  const start = () => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running.then(start);
    return next;
  };`,
  },
  /** The text of an applied state is sent once. If that commit fails, all later deliveries refer to a text that is gone. */
  'forgotten text': {
    file: 'store/embedded/delivery-log/write/commit-batch.ts',
    text: '        if (appliedState) snapshots.learn(factory, appliedState);',
    by: '        void appliedState;',
  },
  /** The result of an attempt counts whichever claim the run has by now. */
  'unfenced result': {
    file: 'store/delivery-log/run-life.ts',
    text: `run.state === 'running' && run.claimedBy === (claimedBy ?? null) && run.claims === claims`,
    by: `run.state === 'running'`,
  },
  /** Artifacts that were not kept are none: the run succeeds, and its second command never acts. */
  'lost artifacts': {
    file: 'daemon/runs/runners/command.ts',
    text: '      if (!isComplete)',
    by: '      if (isComplete === undefined)',
  },
  /** The second command acts on whatever attempt left artifacts last. */
  'artifacts of another attempt': {
    file: 'daemon/runs/runners/afterwards.ts',
    text: 'const { claims } = run.afterwards ?? run;',
    by: 'const claims = 1;',
  },
  /** An end is forgotten though its message is not stored. */
  'untold end': {
    file: 'daemon/alerts/start-alerts.ts',
    text: 'let { state, taken } = add(before);',
    by: 'let { taken } = add(before); let state = before;',
  },
  /** A cancel that failed is claimed again at once, whenever it is due. */
  'spinning cancel': {
    file: 'store/embedded/delivery-log/sql/runs.ts',
    text: 'AND claimed_by IS NULL AND not_before_ms <= ? LIMIT',
    by: 'AND claimed_by IS NULL AND ? > 0 LIMIT',
  },
  /** Claims are known by their runs: a late result takes away the note of a later claim. */
  'mixed claims': {
    file: 'store/postgres/delivery-log/lease.ts',
    text: 'known?.claims === claims && known.claimedBy === claimedBy',
    by: 'known?.claimedBy === claimedBy',
  },
} as const satisfies Record<string, Patch>;

export type Defect = keyof typeof defects;

const files = [
  'daemon/alerts/start-alerts.ts',
  'operations/attention/alerts.ts',
  'daemon/alerts/alert-settings.ts',
  'daemon/runs/run-queue.ts',
  'daemon/runs/receiver-reports.ts',
  'daemon/runs/runners/command.ts',
  'daemon/runs/runners/afterwards.ts',
  'daemon/runs/run-record.ts',
  'store/delivery-log/thread/group-commit.ts',
  'store/delivery-log/thread/open-log-thread.ts',
  'store/postgres/delivery-log/lease.ts',
  'store/embedded/delivery-log/write/commit-batch.ts',
  'store/embedded/delivery-log/read/reader.ts',
  'store/embedded/delivery-log/sql/lanes.ts',
  'store/embedded/delivery-log/sql/run-changes.ts',
  'store/embedded/delivery-log/sql/runs.ts',
  'store/embedded/delivery-log/sql/migrations.ts',
];

/** All that these files export. */
export type Product = typeof import('../../../daemon/alerts/start-alerts.ts') &
  typeof import('../../../operations/attention/alerts.ts') &
  typeof import('../../../daemon/alerts/alert-settings.ts') &
  typeof import('../../../daemon/runs/run-queue.ts') &
  typeof import('../../../daemon/runs/receiver-reports.ts') &
  typeof import('../../../daemon/runs/runners/command.ts') &
  typeof import('../../../daemon/runs/runners/afterwards.ts') &
  typeof import('../../../daemon/runs/run-record.ts') &
  typeof import('../../../store/delivery-log/thread/group-commit.ts') &
  typeof import('../../../store/delivery-log/thread/open-log-thread.ts') &
  typeof import('../../../store/postgres/delivery-log/lease.ts') &
  typeof import('../../../store/embedded/delivery-log/write/commit-batch.ts') &
  typeof import('../../../store/embedded/delivery-log/read/reader.ts') &
  typeof import('../../../store/embedded/delivery-log/sql/lanes.ts') &
  typeof import('../../../store/embedded/delivery-log/sql/run-changes.ts') &
  typeof import('../../../store/embedded/delivery-log/sql/runs.ts') &
  typeof import('../../../store/embedded/delivery-log/sql/migrations.ts');

/** Loads the code that is simulated: the product's own files or, with a defect, a second copy in which one is altered. */
export async function loadProduct(defect?: Defect): Promise<Product> {
  const query = defect ? `?defect=${encodeURIComponent(defect)}` : '';
  if (defect) requireOnce(defects[defect]);
  const loaded = await Promise.all(files.map(file => import(new URL(file + query, root).href)));
  return Object.assign({}, ...loaded);
}

/** A defect that does not apply any more must be noticed. */
function requireOnce({ file, text }: Patch): void {
  const parts = readFileSync(new URL(file, root), 'utf8').split(text).length;
  if (parts !== 2)
    throw new Error(`${file} has the text of a planted defect ${parts - 1} times instead of once`);
}

function findDefect(url: string | undefined): Defect | undefined {
  const name = url && new URL(url).searchParams.get('defect');
  return name ? (name as Defect) : undefined;
}

// The files that an altered copy imports are copies too. Packages are shared.
registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const resolved = nextResolve(specifier, context);
    const defect = context.parentURL?.startsWith(root.href) ? findDefect(context.parentURL) : undefined;
    const isOwn = resolved.url.startsWith(root.href) && !resolved.url.includes('/node_modules/');
    if (!defect || !isOwn || !resolved.url.endsWith('.ts')) return resolved;
    return { ...resolved, url: `${resolved.url}?defect=${encodeURIComponent(defect)}` };
  },
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    const defect = url.startsWith(root.href) ? findDefect(url) : undefined;
    if (!defect) return loaded;
    const { file, text, by } = defects[defect];
    if (fileURLToPath(url) !== fileURLToPath(new URL(file, root))) return loaded;
    return {
      ...loaded,
      source: Buffer.from(loaded.source as Uint8Array)
        .toString('utf8')
        .replace(text, () => by),
    };
  },
});
