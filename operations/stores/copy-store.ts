import { createHash, type Hash, hash } from 'node:crypto';
import {
  type CopiedDocument,
  listCopiedDocuments,
  markCopy,
  otherContent,
} from '../../store/documents/copied-documents.ts';
import type { Seal } from '../../store/ports/seal.ts';
import type { Store } from '../../store/ports/store.ts';
import {
  type Transfer,
  type TransferReader,
  type TransferRow,
  type TransferSnapshot,
  type TransferSource,
  type TransferTableName,
  type TransferTarget,
  transferTables,
} from '../../store/ports/transfer.ts';

/** A store to copy from, with the seal of its values. */
export interface CopySource extends TransferSource {
  readonly seal: Seal;
}

/** A store to copy to, with the seal that its values get there. */
export interface CopyTarget extends TransferTarget {
  readonly seal: Seal;
}

/** Called with the number of rows that were just copied. */
export type OnRows = (table: TransferTableName, count: number) => void;

export interface CopyReport {
  readonly parts: readonly CopiedPart[];
  /** Whether both stores have the same afterwards. */
  readonly isSame: boolean;
  /** Runs that a daemon left running. The next daemon starts another attempt at them. */
  readonly runsRunning: number;
}

/** One kind of things in both stores, as counted and digested after the copy. */
export interface CopiedPart {
  readonly part: string;
  readonly from: PartSummary;
  readonly to: PartSummary;
}

export interface PartSummary {
  readonly count: number;
  /** SHA-256 over everything that is kept of them but sealed values. */
  readonly digest: string;
}

/** A factory's rows that the target does not have yet: those after `position`. */
interface Rest {
  readonly table: TransferTableName;
  readonly factory: string;
  readonly position: number;
}

/**
 * Copies everything from one store to another one, and compares both. A copy that was stopped goes on where it was. No
 * daemon serves the target until it has everything.
 * Fails with `other-content` if the target has something else, and then changes nothing.
 */
export async function copyStore(
  from: CopySource,
  to: CopyTarget & Transfer,
  onRows: OnRows,
): Promise<CopyReport> {
  const begin = () => markCopy(to.documents, false);
  const report = compareSummaries(await copyAll(from, to, onRows, begin), await summarizeStore(to));
  if (report.isSame) await markCopy(to.documents, true);
  return report;
}

/** Copies everything between two stores that no daemon uses meanwhile, as `copyStore`. Fails with `locked` or `unsafe` too. */
export async function copyStores(source: Store, target: Store, onRows: OnRows): Promise<CopyReport> {
  for (const store of [source, target]) await store.requireSafe();
  const from = await source.openTransfer();
  try {
    const to = await target.openTransfer();
    const report = copyStore({ ...from, seal: source.seal }, { ...to, seal: target.seal }, onRows);
    return await report.finally(to.close);
  } finally {
    await from.close();
  }
}

/**
 * Copies everything that the target does not have, as `copyStore`, and sums up the source, which is read only once. Calls
 * `begin` before the first change of the target.
 */
export async function copyAll(
  from: CopySource,
  to: CopyTarget,
  onRows: OnRows,
  begin: () => Promise<void> = async () => undefined,
): Promise<CopySummary> {
  const documents = listCopiedDocuments(await listBoth(from.documents, to.documents));
  for (const document of documents) await document.requireFits(from, to);
  const sums = new LogSums();
  const rests = await findRests(from, to, sums);
  const copiedSnapshots = new Set<string>();
  await begin();
  for (const rest of rests) await copyRest(from, to, rest, { copiedSnapshots, sums, onRows });
  for (const document of documents) await document.copy(from, to);
  return sums.end(from, documents);
}

async function listBoth(...sides: readonly { listFactories(): Promise<string[]> }[]): Promise<string[]> {
  const lists = await Promise.all(sides.map(side => side.listFactories()));
  return [...new Set(lists.flat())].sort();
}

async function findRests(from: CopySource, to: CopyTarget, sums: LogSums): Promise<Rest[]> {
  const factories = await from.listLoggedFactories();
  const other = (await to.listLoggedFactories()).find(factory => !factories.includes(factory));
  if (other !== undefined) throw otherContent(`deliveries of the factory ${other}`);
  const rests: Rest[] = [];
  for (const table of transferTables) {
    for (const factory of factories) {
      const position = await findEnd<TransferRow>(from[table], to[table], factory, row =>
        sums.add(table, row),
      );
      rests.push({ table, factory, position });
    }
  }
  return rests;
}

/** The position in the source after which the target has no rows. What the target has must be the source's beginning. */
async function findEnd<Row extends TransferRow>(
  from: TransferReader<Row>,
  to: TransferReader<Row>,
  factory: string,
  onSame: (row: Row) => void,
): Promise<number> {
  let [position, positionInTarget] = [0, 0];
  for (;;) {
    const rows = await to.read(factory, positionInTarget);
    if (rows.length === 0) return position;
    const originals = await from.read(factory, position);
    for (const [index, original] of originals.slice(0, rows.length).entries()) {
      const row = rows[index] as Row;
      if (digestOf(row) !== digestOf(original)) throw otherContent(`${row.id} of the factory ${factory}`);
      onSame(original);
      position = original.position;
      positionInTarget = row.position;
    }
    if (originals.length === 0) throw otherContent(`${rows[0]?.id} of the factory ${factory}`);
  }
}

async function copyRest(
  from: CopySource,
  to: CopyTarget,
  { table, factory, position }: Rest,
  { copiedSnapshots, sums, onRows }: Progress,
): Promise<void> {
  for await (const rows of readPages<TransferRow>(from[table], factory, position)) {
    // They come from the table of this name.
    await to[table].write(rows as never, await readSnapshots(from, rows, copiedSnapshots));
    for (const row of rows) sums.add(table, row);
    onRows(table, rows.length);
  }
}

interface Progress {
  readonly copiedSnapshots: Set<string>;
  readonly sums: LogSums;
  readonly onRows: OnRows;
}

/** Reads the snapshots that the rows name, and that were not copied before. */
async function readSnapshots(
  from: TransferSource,
  rows: readonly TransferRow[],
  copied: Set<string>,
): Promise<TransferSnapshot[]> {
  const digests = new Set(rows.flatMap(({ snapshot }) => snapshot ?? []));
  const snapshots: TransferSnapshot[] = [];
  for (const digest of digests) {
    const json = copied.has(digest) ? undefined : await from.readSnapshot(digest);
    if (json !== undefined) snapshots.push({ digest, json });
    copied.add(digest);
  }
  return snapshots;
}

/** The content of a store, summed up to be compared with another store. */
export interface CopySummary {
  readonly parts: ReadonlyMap<string, PartSummary>;
  readonly runsRunning: number;
}

/** Compares the contents of two stores. */
export function compareSummaries(source: CopySummary, target: CopySummary): CopyReport {
  const nothing = { count: 0, digest: '' };
  const names = [...new Set([...source.parts.keys(), ...target.parts.keys()])];
  const parts = names.map(part => ({
    part,
    from: source.parts.get(part) ?? nothing,
    to: target.parts.get(part) ?? nothing,
  }));
  const isSame = parts.every(({ from, to }) => from.count === to.count && from.digest === to.digest);
  return { parts, isSame, runsRunning: target.runsRunning };
}

/** Reads everything once, and sums it up. */
export async function summarizeStore(side: TransferSource): Promise<CopySummary> {
  const sums = new LogSums();
  const factories = await side.listLoggedFactories();
  for (const table of transferTables) {
    for (const factory of factories) {
      for await (const rows of readPages<TransferRow>(side[table], factory, 0)) {
        for (const row of rows) sums.add(table, row);
      }
    }
  }
  return sums.end(side, listCopiedDocuments(await side.documents.listFactories()));
}

/** Counts the rows of a delivery log and digests the rows of each factory in their order. */
class LogSums {
  /** The sums of factories, by table. */
  readonly #tables = new Map(
    transferTables.map(table => [table, new Map<string, { count: number; hash: Hash }>()]),
  );
  readonly #snapshots = new Set<string>();
  #outputs = 0;
  #runsRunning = 0;

  add(table: TransferTableName, row: TransferRow): void {
    const factories = this.#tables.get(table);
    const sum = factories?.get(row.factory) ?? { count: 0, hash: createHash('sha256') };
    factories?.set(row.factory, sum);
    sum.count++;
    addRow(sum.hash, row);
    if (table === 'runs' && row.bytes) this.#outputs++;
    if ('state' in row && row.state === 'running') this.#runsRunning++;
    if (row.snapshot !== null) this.#snapshots.add(row.snapshot);
  }

  /** Adds what is not in the log's rows. */
  async end(side: TransferSource, documents: readonly CopiedDocument[]): Promise<CopySummary> {
    const parts = new Map<string, PartSummary>();
    const add = (part: string, count: number, content: string) => {
      const before = parts.get(part) ?? { count: 0, digest: '' };
      const digest = content === '' ? before.digest : hash('sha256', before.digest + content);
      parts.set(part, { count: before.count + count, digest });
    };
    for (const { part, summarize } of documents) {
      const { count, digest } = await summarize(side.documents);
      add(part, count, digest);
    }
    for (const [table, factories] of this.#tables) {
      add(table, 0, '');
      for (const [factory, sum] of [...factories].sort(([a], [b]) => (a < b ? -1 : 1))) {
        add(table, sum.count, `${factory} ${sum.hash.digest('hex')}`);
      }
    }
    add('run outputs', this.#outputs, '');
    for (const digest of [...this.#snapshots].sort()) {
      add('applied automations of deliveries', 1, (await side.readSnapshot(digest)) ?? '');
    }
    add('identities', await side.countIdentities(), '');
    return { parts, runsRunning: this.#runsRunning };
  }
}

async function* readPages<Row extends TransferRow>(
  table: TransferReader<Row>,
  factory: string,
  after: number,
): AsyncGenerator<Row[]> {
  let position = after;
  for (;;) {
    const rows = await table.read(factory, position);
    if (rows.length === 0) return;
    yield rows;
    position = rows.at(-1)?.position ?? position;
  }
}

function digestOf(row: TransferRow): string {
  const hash = createHash('sha256');
  addRow(hash, row);
  return hash.digest('hex');
}

/** Adds everything but the row's place. PostgreSQL cannot store NUL, and has the symbol for it instead. */
function addRow(hash: Hash, { position: _, bytes, ...row }: TransferRow): void {
  const columns = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  const json = JSON.stringify([bytes?.length ?? null, columns]);
  hash.update(json.replaceAll('\\u0000', '\u2400'));
  if (bytes) hash.update(bytes);
}
