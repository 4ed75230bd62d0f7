import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RestoreReport } from '../../operations/stores/backup-store.ts';
import type { CopiedPart, CopyReport, OnRows } from '../../operations/stores/copy-store.ts';
import { printable } from '../../schema/text/printable.ts';
import type { Migrated, Store, StorePlace } from '../../store/ports/store.ts';
import { findPlace, findPostgres, openContext, requireNoPassword, requireOwnPlace } from '../context.ts';
import { CommandError, exitStatus, UsageError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';
import { askToConfirm } from '../input/read-input.ts';
import { printData, printStatus } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { renderFields, renderTable } from '../render/render-table.ts';
import { requireHome } from '../require-home.ts';
import { takeSecrets } from '../take-secrets.ts';
import type { CliCommand } from './cli-command.ts';

/** Rows between two messages. */
const rowsPerMessage = 100_000;

interface StoreBackupOptions {
  readonly withoutPayloads?: true;
  readonly yes?: true;
}

interface CopyOptions {
  readonly from: string;
  readonly to: string;
}

/** A place that the user named: a home, or a database. */
type CopyPlace = Pick<StorePlace, 'home' | 'postgres'>;

/** Declares `hookmill store`. */
export function declareStore(command: CliCommand): void {
  command
    .explain(`prepare, check, copy, back up or restore what keeps everything

Examples:
  HOOKMILL_STORE=postgres://owner@db.example/hookmill hookmill store migrate
  hookmill store check
  hookmill store backup /backups/hookmill-monday
  hookmill store copy --from .hookmill --to postgres`)
    .subcommands({ migrate, check, copy, backup, restore });
}

function migrate(command: CliCommand): void {
  command
    .explain(`create or update the tables in PostgreSQL

The daemon and all commands do this too if their role may. Run it as the owner of the database if it may not.

Examples:
  hookmill store migrate --store postgres://owner@db.example/hookmill
  hookmill store migrate -o json`)
    .action(async (_, command: CliCommand) => {
      const { store, output } = await openContext(command);
      const describe = ({ before, after }: Migrated) =>
        before === after ? null : `version ${before} to ${after}`;
      const { before, after } = await recordOwnChange({ store }, 'migrateStore', '', store.migrate, describe);
      printData(output, { before, after }, () =>
        before === after
          ? `The tables have version ${after} already.\n`
          : `Migrated the tables from version ${before} to ${after}.\n`,
      );
    });
}

function check(command: CliCommand): void {
  command
    .explain(`check what keeps everything: versions, durability, clocks, damage, sealed values

Changes nothing. Exits with 1 if there are problems: settings that lose deliveries, damage, values that do not open with
the key, webhooks whose team secret is missing, or runs without their delivery.

Examples:
  hookmill store check
  hookmill store check --store postgres://hookmill@db.example/hookmill -o json`)
    .action(async (_, command: CliCommand) => {
      const { store, output } = await openContext(command);
      requireHome(store.place);
      const { facts, problems } = await store.check();
      if (problems.length > 0) process.exitCode = exitStatus.problems;
      printData(output, { facts, problems }, () => {
        const found = problems.map(problem => `problem: ${printable(problem)}\n`).join('');
        return `${renderFields(Object.entries(facts))}\n${found || 'No problems found.\n'}`;
      });
    });
}

function copy(command: CliCommand): void {
  command
    .explain(`copy everything from a home or a database to another one, and compare both

A place is the directory of a home, the URL of a database without a password, or the word postgres for the database of
HOOKMILL_STORE. Stop all daemons of both places first. The target must be empty, or have the beginning of the same copy:
run a copy that was stopped again, and it goes on. UIDs, credentials and identities stay the same, so senders notice
nothing.

HOOKMILL_KEY seals the team secrets at the target. A home without it gets a key of its own. What another key has sealed,
such as the key file of the home to copy from, is sealed again in memory.

Directories of runs, dashboard sessions and copies of repositories stay where they are.

Examples:
  HOOKMILL_STORE=postgres://hookmill@db.example/hookmill hookmill store copy --from .hookmill --to postgres
  hookmill store copy --from postgres://hookmill@db.example/hookmill --to /var/lib/hookmill -o json`)
    .requiredOption('--from <place>', 'home or database to copy from')
    .requiredOption('--to <place>', 'home or database to copy to')
    .action(async (options: CopyOptions, command: CliCommand) => copyPlaces(options, command));
}

async function copyPlaces({ from, to }: CopyOptions, command: CliCommand): Promise<void> {
  const { output } = await findPlace(command);
  const { lockTimeout }: GlobalOptions = requireOwnPlace(command);
  if (command.getOptionValueSourceWithGlobals('home') === 'cli') {
    throw new UsageError('store copy does not work with --home; name homes with --from and --to');
  }
  const environment = takeSecrets(process.env);
  const source = findCopyPlace('--from', from, command, environment);
  const target = findCopyPlace('--to', to, command, environment);
  if (describePlace(source) === describePlace(target))
    throw new UsageError('--from and --to are the same place');
  requireHome(source);
  const open = async (place: CopyPlace, key: NodeJS.ProcessEnv): Promise<Store> => {
    const { openStore } = await import('../../store/open-store.ts');
    const options = { lockTimeoutMs: lockTimeout * 1000, now: () => new Date(), readsInThread: false };
    return openStore({ ...place, environment: key, ...options });
  };
  // The target has HOOKMILL_KEY and opens what it sealed, so the source only adds the key file of its home.
  const sourceStore = await open(source, source.postgres ? environment : {});
  const targetStore = await open(target, environment);
  const { copyStores } = await import('../../operations/stores/copy-store.ts');
  const copy = () => copyStores(sourceStore, targetStore, showRows('Copied'));
  const describe = ({ isSame }: CopyReport) => (isSame ? `from ${describePlace(source)}` : null);
  const recorded = recordOwnChange({ store: targetStore }, 'copyStore', '', copy, describe);
  const report = await recorded.finally(async () => {
    for (const store of [sourceStore, targetStore]) await store.close();
  });
  if (!report.isSame) process.exitCode = exitStatus.problems;
  const places = { from: describePlace(source), to: describePlace(target) };
  printData(output, { ...places, ...report }, () =>
    renderReport(report, target, Boolean(environment.HOOKMILL_KEY)),
  );
}

function findCopyPlace(
  flag: string,
  text: string,
  command: CliCommand,
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
function describePlace({ home, postgres }: CopyPlace): string {
  if (!postgres) return home;
  const { host, pathname } = new URL(postgres.url);
  return `postgres://${host}${pathname}`;
}

function renderReport(
  { parts, isSame, runsRunning }: CopyReport,
  target: CopyPlace,
  hasKey: boolean,
): string {
  const table = renderParts(parts);
  if (!isSame) return `${table}\n${renderDifference(parts)} Empty the target and copy again.\n`;
  const start = target.postgres
    ? `Now start the daemon with HOOKMILL_STORE=${describePlace(target)}, its user and password, and the same HOOKMILL_KEY.`
    : `Now start the daemon with --home ${target.home}${hasKey ? ' and the same HOOKMILL_KEY' : ''}, without HOOKMILL_STORE.`;
  const advice = 'Never start one at the old place again.';
  return `${table}\nNothing differs.\n${renderRunning(runsRunning)}${start} ${advice}\n`;
}

function backup(command: CliCommand): void {
  command
    .explain(`write everything to an encrypted file, while daemons go on

The file has everything as it was at one moment: applied states, team secrets, API tokens, deliveries, identities, and runs
with their output. A delivery that was answered with 202 before the backup began is in it. The file is read again and
compared before it gets its name.

Only the key of the store opens the file, and the key is not in it: keep a copy of HOOKMILL_KEY or of the home's key file
elsewhere.

--without-payloads leaves out the payloads of deliveries and the outputs of runs. Duplicates are still recognised, but
deliveries cannot be replayed, plans do not show what a filter does to them, and runs that are not finished will fail.

Examples:
  hookmill store backup /backups/hookmill-monday
  HOOKMILL_STORE=postgres://hookmill@db.example/hookmill hookmill store backup hookmill.backup -o json`)
    .argument('<file>', 'the file to write')
    .option('--without-payloads', 'leave out the payloads of deliveries and the outputs of runs')
    .option('--yes', 'replace an existing file without asking')
    .action(async (file: string, options: StoreBackupOptions, command: CliCommand) =>
      backUp(file, options, command),
    );
}

async function backUp(path: string, { withoutPayloads, yes }: StoreBackupOptions, command: CliCommand) {
  const { store, output } = await openContext(command);
  requireHome(store.place);
  const file = resolve(path);
  if (existsSync(file) && !yes && !(await askToConfirm(`Replace ${file}?`, output))) {
    throw new CommandError(`${file} exists; choose another name, or use --yes to replace it`);
  }
  const { backUpStore } = await import('../../operations/stores/backup-store.ts');
  const isWithoutPayloads = withoutPayloads === true;
  const options = { isWithoutPayloads, now: () => new Date(), onRows: showRows('Written') };
  const report = await backUpStore(store, file, options).finally(store.close);
  if (!report.isSame) process.exitCode = exitStatus.problems;
  printData(output, { file, isWithoutPayloads, ...report }, () => renderBackup(file, report));
}

function renderBackup(file: string, { parts, isSame }: CopyReport): string {
  const table = renderParts(parts);
  if (!isSame) return `${table}\n${renderDifference(parts)} The file was not kept; check its disk.\n`;
  return `${table}\nWrote ${file}. Only the key of this store opens it: keep a copy of the key elsewhere.\n`;
}

function restore(command: CliCommand): void {
  command
    .explain(`restore a backup to an empty home or database

The home or database must be empty, or have the beginning of the same backup: run a restore that was stopped again, and it
goes on. A backup of a home can be restored to a database, and the other way round.

It needs the key that the store had: in HOOKMILL_KEY or HOOKMILL_KEY_FILE, or as the file "key" in the home. Everything in
the file is checked before the first row is written, and the applied states are written last.

Examples:
  HOOKMILL_KEY_FILE=/safe/key hookmill store restore /backups/hookmill-monday --home /var/lib/hookmill
  HOOKMILL_STORE=postgres://hookmill@db.example/empty hookmill store restore hookmill.backup`)
    .argument('<file>', 'a file that store backup wrote')
    .action(async (file: string, _, command: CliCommand) => restoreFile(resolve(file), command));
}

async function restoreFile(file: string, command: CliCommand): Promise<void> {
  const { store, output } = await openContext(command);
  const { restoreStore } = await import('../../operations/stores/backup-store.ts');
  const restore = () => restoreStore(store, file, showRows('Restored'));
  const describe = ({ isSame, facts }: RestoreReport) => (isSame ? `${file} of ${facts.createdAt}` : null);
  const report = await recordOwnChange({ store }, 'restoreStore', '', restore, describe).finally(store.close);
  if (!report.isSame) process.exitCode = exitStatus.problems;
  printData(output, { file, ...report }, () => renderRestore(report));
}

function renderRestore({ parts, isSame, runsRunning, facts }: RestoreReport): string {
  const table = renderParts(parts);
  if (!isSame) return `${table}\n${renderDifference(parts)} Empty the target and restore again.\n`;
  const missing = facts.isWithoutPayloads
    ? 'It has no payloads: deliveries cannot be replayed, and runs that are not finished will fail.\n'
    : '';
  return `${table}\nRestored everything as of ${facts.createdAt}.\n${missing}${renderRunning(runsRunning)}Now start the daemon.\n`;
}

/** Prints the number of rows that have been copied, from time to time. `done` is a word such as `Copied`. */
function showRows(done: string): OnRows {
  const copied = { deliveries: 0, runs: 0, pauses: 0, unlogged: 0, audit: 0 };
  return (part, count) => {
    const before = copied[part];
    copied[part] += count;
    if (Math.floor(before / rowsPerMessage) === Math.floor(copied[part] / rowsPerMessage)) return;
    printStatus(`${done} ${copied[part]} ${part} …`);
  };
}

/** Characters of a digest that people compare; JSON has all of them. */
const digestShown = 16;

/** Renders the parts of a copy, with the counts and digests of both sides. */
function renderParts(parts: readonly CopiedPart[]): string {
  const rows = parts.map(({ part, from, to }) => [
    part,
    ...[String(from.count), from.digest.slice(0, digestShown)],
    ...[String(to.count), to.digest.slice(0, digestShown)],
  ]);
  return renderTable(['PART', 'FROM', 'SHA-256', 'TO', 'SHA-256'], rows);
}

function renderDifference(parts: readonly CopiedPart[]): string {
  const other = parts.filter(({ from, to }) => from.count !== to.count || from.digest !== to.digest);
  return `These differ: ${other.map(({ part }) => part).join(', ')}.`;
}

/** Renders the note that unfinished runs are attempted again. It is empty if there are no such runs. */
function renderRunning(runs: number): string {
  if (runs === 0) return '';
  return `${runs} runs were running when their daemon ended. The next daemon starts another attempt at them.\n`;
}
