import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CopyReport } from '../../../operations/copy-store.ts';
import type { Store, StorePlace } from '../../../store/ports.ts';
import { findPlace } from '../../context.ts';
import { exitStatus, UsageError } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { findPostgres, requireNoPassword } from '../../postgres-place.ts';
import { recordOwnMade } from '../../record-own-change.ts';
import { renderDifference, renderParts, renderRunning } from '../../render/render-copy.ts';
import { requireHome } from '../../require-home.ts';
import { takeSecrets } from '../../take-secrets.ts';
import { addCommand } from '../add-command.ts';
import { showRows } from './show-rows.ts';

/** Declares `hookmill store copy`. */
export function declareStoreCopy(parent: Command): Command {
  return addCommand(
    parent,
    'copy',
    'copy everything from a home or a database to another one, and compare both',
    `
A place is the directory of a home, the URL of a database without a password, or the word postgres for the database of
HOOKMILL_STORE. Stop all daemons of both places first. The target must be empty, or have the beginning of the same copy:
run a copy that was stopped again, and it goes on. UIDs, credentials and identities stay the same, so senders notice
nothing.

HOOKMILL_KEY seals the team secrets at the target. A home without it gets a key of its own. What another key has sealed,
such as the key file of the home to copy from, is sealed again in memory.

Directories of runs, dashboard sessions and copies of repositories stay where they are.

Examples:
  HOOKMILL_STORE=postgres://hookmill@db.example/hookmill hookmill store copy --from .hookmill --to postgres
  hookmill store copy --from postgres://hookmill@db.example/hookmill --to /var/lib/hookmill -o json`,
  )
    .requiredOption('--from <place>', 'home or database to copy from')
    .requiredOption('--to <place>', 'home or database to copy to')
    .action(async (options: CopyOptions, command: Command) => copy(options, command));
}

interface CopyOptions {
  readonly from: string;
  readonly to: string;
}

/** A place that the user named: a home, or a database. */
type CopyPlace = Pick<StorePlace, 'home' | 'postgres'>;

async function copy({ from, to }: CopyOptions, command: Command): Promise<void> {
  const { output } = await findPlace(command);
  const { lockTimeout, server }: GlobalOptions = command.optsWithGlobals();
  if (server) throw new UsageError('store copy works on this machine only; it does not work with --server');
  if (command.getOptionValueSourceWithGlobals('home') === 'cli') {
    throw new UsageError('store copy does not work with --home; name homes with --from and --to');
  }
  const environment = takeSecrets(process.env);
  const source = findCopyPlace('--from', from, command, environment);
  const target = findCopyPlace('--to', to, command, environment);
  if (describe(source) === describe(target)) throw new UsageError('--from and --to are the same place');
  requireHome(source);
  const open = async (place: CopyPlace, key: NodeJS.ProcessEnv): Promise<Store> => {
    const { openStore } = await import('../../../store/open-store.ts');
    const options = { lockTimeoutMs: lockTimeout * 1000, now: () => new Date(), readsInThread: false };
    return openStore({ ...place, environment: key, ...options });
  };
  // The target has HOOKMILL_KEY and opens what it sealed, so the source only adds the key file of its home.
  const sourceStore = await open(source, source.postgres ? environment : {});
  const report = await copyBetween(sourceStore, await open(target, environment), describe(source));
  if (!report.isSame) process.exitCode = exitStatus.problems;
  const places = { from: describe(source), to: describe(target) };
  printData(output, { ...places, ...report }, () =>
    renderReport(report, target, Boolean(environment.HOOKMILL_KEY)),
  );
}

function findCopyPlace(
  flag: string,
  text: string,
  command: Command,
  environment: NodeJS.ProcessEnv,
): CopyPlace {
  const home = resolve('.hookmill');
  if (text === 'postgres') {
    const postgres = findPostgres(command, environment);
    if (postgres) return { home, postgres };
    throw new UsageError(`${flag} postgres needs HOOKMILL_STORE; set it to the URL of the database`);
  }
  if (!/^postgres(ql)?:/.test(text)) return { home: resolve(text) };
  requireNoPassword(flag, text);
  return { home, postgres: { url: text, mayLose: false } };
}

/** Describes a place without the user and password of its URL. */
function describe({ home, postgres }: CopyPlace): string {
  if (!postgres) return home;
  const { host, pathname } = new URL(postgres.url);
  return `postgres://${host}${pathname}`;
}

/** Copies everything, and records in the target where it comes from. */
async function copyBetween(source: Store, target: Store, name: string): Promise<CopyReport> {
  const { copyStore } = await import('../../../operations/copy-store.ts');
  const stores = [source, target];
  const opened: { close(): Promise<void> }[] = [];
  try {
    for (const store of stores) await store.requireSafe();
    const from = await source.openTransfer();
    opened.push(from);
    const to = await target.openTransfer();
    opened.push(to);
    const sides = [
      { ...from, seal: source.seal },
      { ...to, seal: target.seal },
    ] as const;
    const report = await copyStore(...sides, showRows('Copied'));
    if (report.isSame) await recordOwnMade(target, 'copyStore', `from ${name}`);
    return report;
  } finally {
    for (const open of [...opened, ...stores]) await open.close();
  }
}

function renderReport(
  { parts, isSame, runsRunning }: CopyReport,
  target: CopyPlace,
  hasKey: boolean,
): string {
  const table = renderParts(parts);
  if (!isSame) return `${table}\n${renderDifference(parts)} Empty the target and copy again.\n`;
  const start = target.postgres
    ? `Now start the daemon with HOOKMILL_STORE=${describe(target)}, its user and password, and the same HOOKMILL_KEY.`
    : `Now start the daemon with --home ${target.home}${hasKey ? ' and the same HOOKMILL_KEY' : ''}, without HOOKMILL_STORE.`;
  const advice = 'Never start one at the old place again.';
  return `${table}\nNothing differs.\n${renderRunning(runsRunning)}${start} ${advice}\n`;
}
