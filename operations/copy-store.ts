import { createHash, type Hash } from 'node:crypto';
import {
  type CopiedDocument,
  listCopiedDocuments,
  otherContent,
} from '../store/documents/copied-documents.ts';
import type { Seal } from '../store/seal.ts';
import type { Transfer, TransferRow, TransferSnapshot, TransferTable } from '../store/transfer.ts';

/** A store that is open for copying, and its seal. */
export interface CopySide extends Transfer {
  readonly seal: Seal;
}

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

/** Deliveries come before the runs that they started. */
const tables = ['deliveries', 'runs', 'unlogged'] as const;
type TableName = (typeof tables)[number];

/** A factory's rows that the target does not have yet: those after `position`. */
interface Rest {
  readonly table: TableName;
  readonly factory: string;
  readonly position: number;
}

/**
 * Copies everything from one store to another one, and compares both. A copy that was stopped goes on where it was.
 * Fails with `other-content` if the target has something else, and then changes nothing.
 */
export async function copyStore(
  from: CopySide,
  to: CopySide,
  onRows: (part: TableName, count: number) => void,
): Promise<CopyReport> {
  const factories = await listBoth(from.documents, to.documents);
  const documents = listCopiedDocuments(factories);
  for (const document of documents) await document.requireFits(from, to);
  const rests = await findRests(from, to);
  const copiedSnapshots = new Set<string>();
  for (const rest of rests) await copyRest(from, to, rest, copiedSnapshots, onRows);
  for (const document of documents) await document.copy(from, to);
  return compare(from, to, documents);
}

async function listBoth(...sides: readonly { listFactories(): Promise<string[]> }[]): Promise<string[]> {
  const lists = await Promise.all(sides.map(side => side.listFactories()));
  return [...new Set(lists.flat())].sort();
}

async function findRests(from: Transfer, to: Transfer): Promise<Rest[]> {
  const factories = await from.listLoggedFactories();
  const other = (await to.listLoggedFactories()).find(factory => !factories.includes(factory));
  if (other !== undefined) throw otherContent(`deliveries of the factory ${other}`);
  const rests: Rest[] = [];
  for (const table of tables) {
    for (const factory of factories) {
      const position = await findEnd<TransferRow>(from[table], to[table], factory);
      rests.push({ table, factory, position });
    }
  }
  return rests;
}

/** The position in the source after which the target has no rows. What the target has must be the source's beginning. */
async function findEnd<Row extends TransferRow>(
  from: Pick<TransferTable<Row>, 'read'>,
  to: Pick<TransferTable<Row>, 'read'>,
  factory: string,
): Promise<number> {
  let [position, positionInTarget] = [0, 0];
  for (;;) {
    const rows = await to.read(factory, positionInTarget);
    if (rows.length === 0) return position;
    const originals = await from.read(factory, position);
    for (const [index, original] of originals.slice(0, rows.length).entries()) {
      const row = rows[index] as Row;
      if (digestOf(row) !== digestOf(original)) throw otherContent(`${row.id} of the factory ${factory}`);
      position = original.position;
      positionInTarget = row.position;
    }
    if (originals.length === 0) throw otherContent(`${rows[0]?.id} of the factory ${factory}`);
  }
}

async function copyRest(
  from: Transfer,
  to: Transfer,
  { table, factory, position }: Rest,
  copiedSnapshots: Set<string>,
  onRows: (part: TableName, count: number) => void,
): Promise<void> {
  const copyPages = async <Row extends TransferRow>(
    source: TransferTable<Row>,
    target: TransferTable<Row>,
  ) => {
    let rows = await source.read(factory, position);
    while (rows.length > 0) {
      await target.write(rows, await readSnapshots(from, rows, copiedSnapshots));
      onRows(table, rows.length);
      rows = await source.read(factory, rows.at(-1)?.position ?? 0);
    }
  };
  if (table === 'deliveries') await copyPages(from.deliveries, to.deliveries);
  else if (table === 'runs') await copyPages(from.runs, to.runs);
  else await copyPages(from.unlogged, to.unlogged);
}

/** Reads the snapshots that the rows name, and that were not copied before. */
async function readSnapshots(
  from: Transfer,
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

async function compare(
  from: Transfer,
  to: Transfer,
  documents: readonly CopiedDocument[],
): Promise<CopyReport> {
  const [source, target] = [await summarize(from, documents), await summarize(to, documents)];
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

interface Summary {
  readonly parts: ReadonlyMap<string, PartSummary>;
  readonly runsRunning: number;
}

async function summarize(side: Transfer, documents: readonly CopiedDocument[]): Promise<Summary> {
  const sums = new Sums();
  for (const { part, summarize } of documents) {
    const { count, digest } = await summarize(side.documents);
    sums.add(part, count, hash => hash.update(digest));
  }
  for (const table of tables) sums.add(table, 0, () => undefined);
  const snapshots = new Set<string>();
  let runsRunning = 0;
  for await (const [table, row] of readLog(side)) {
    sums.add(table, 1, hash => addRow(hash, row));
    if (table === 'runs' && row.bytes) sums.add('run outputs', 1, hash => hash.update(row.id));
    if ('state' in row && row.state === 'running') runsRunning++;
    if (row.snapshot !== null) snapshots.add(row.snapshot);
  }
  for (const digest of [...snapshots].sort()) {
    const json = (await side.readSnapshot(digest)) ?? '';
    sums.add('applied automations of deliveries', 1, hash => hash.update(json));
  }
  sums.add('identities', await side.countIdentities(), () => undefined);
  return { parts: sums.end(), runsRunning };
}

/** Counts things, and digests them in their order. */
class Sums {
  readonly #parts = new Map<string, { count: number; hash: Hash }>();

  add(part: string, count: number, digest: (hash: Hash) => void): void {
    const sum = this.#parts.get(part) ?? { count: 0, hash: createHash('sha256') };
    this.#parts.set(part, sum);
    sum.count += count;
    digest(sum.hash);
  }

  end(): Map<string, PartSummary> {
    const parts = [...this.#parts];
    return new Map(parts.map(([part, { count, hash }]) => [part, { count, digest: hash.digest('hex') }]));
  }
}

async function* readLog(side: Transfer): AsyncGenerator<readonly [TableName, TransferRow]> {
  const factories = await side.listLoggedFactories();
  for (const table of tables) {
    for (const factory of factories) {
      for await (const row of readAll<TransferRow>(side[table], factory)) yield [table, row];
    }
  }
}

async function* readAll<Row extends TransferRow>(table: Pick<TransferTable<Row>, 'read'>, factory: string) {
  let position = 0;
  for (;;) {
    const rows = await table.read(factory, position);
    if (rows.length === 0) return;
    yield* rows;
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
