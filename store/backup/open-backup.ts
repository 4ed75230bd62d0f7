import { open } from 'node:fs/promises';
import { nameDocument } from '../ports/documents.ts';
import type { Seal } from '../ports/seal.ts';
import { fileFailure, StoreError } from '../ports/store-error.ts';
import type { TransferReader, TransferRow, TransferSource, TransferTableName } from '../ports/transfer.ts';
import { parseDocument } from '../stored-json.ts';
import { type ChunkPlace, type Chunks, openChunks } from './chunks.ts';
import { type BackupFacts, type BackupRecord, unpackRecord } from './records.ts';

/** A backup to restore from. */
export interface Backup extends TransferSource {
  readonly facts: BackupFacts;
}

/**
 * Opens a backup, and reads all of it once: if anything of it is damaged, this fails, before anything is restored. Fails
 * with `key`, `corrupt`, `newer-format` or `unreadable`. Memory holds the places of its parts and one of them.
 */
export async function openBackup(path: string, seal: Seal): Promise<Backup> {
  const handle = await open(path, 'r').catch(fileFailure('unreadable', path));
  try {
    const chunks = await openChunks(handle, path, seal);
    const index = await makeIndex(chunks, path);
    const read = async (place: ChunkPlace) => unpackRecord(await chunks.read(place));
    const { factories, documents } = index;
    return {
      facts: index.facts,
      documents: {
        read: async wanted => {
          const text = documents.get(nameDocument(wanted));
          return text === undefined ? wanted.whenMissing : parseDocument(path, text, wanted);
        },
        listFactories: async () => [...factories].sort(),
      },
      deliveries: readTable('deliveries', index, read),
      runs: readTable('runs', index, read),
      pauses: readTable('pauses', index, read),
      unlogged: readTable('unlogged', index, read),
      audit: readTable('audit', index, read),
      listLoggedFactories: async () => [...new Set(index.pages.map(({ factory }) => factory))].sort(),
      countIdentities: async () => index.facts.identities,
      readSnapshot: async digest => {
        const place = index.snapshots.get(digest);
        const record = place && (await read(place));
        return record?.kind === 'snapshot' ? record.json : undefined;
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The places of everything in a backup. */
interface Index {
  readonly facts: BackupFacts;
  readonly factories: ReadonlySet<string>;
  /** The texts of the documents, by `nameDocument`. */
  readonly documents: ReadonlyMap<string, string>;
  readonly snapshots: ReadonlyMap<string, ChunkPlace>;
  readonly pages: readonly Page[];
}

interface Page {
  readonly table: TransferTableName;
  readonly factory: string;
  readonly lastPosition: number;
  readonly place: ChunkPlace;
}

async function makeIndex(chunks: Chunks, path: string): Promise<Index> {
  const [factories, documents] = [new Set<string>(), new Map<string, string>()];
  const [snapshots, pages] = [new Map<string, ChunkPlace>(), [] as Page[]];
  for await (const place of chunks.list()) {
    const record = await unpackRecord(await chunks.read(place));
    if (record.kind === 'end') return { facts: record, factories, documents, snapshots, pages };
    if (record.kind === 'snapshot') snapshots.set(record.digest, place);
    if (record.kind === 'document') {
      documents.set(nameDocument(record.id), record.text);
      if (record.id.factory !== undefined) factories.add(record.id.factory);
    }
    if (record.kind !== 'rows') continue;
    const { table, factory, rows } = record;
    pages.push({ table, factory, lastPosition: rows.at(-1)?.position ?? 0, place });
  }
  throw new StoreError('corrupt', `${path} has no end; use another backup`);
}

function readTable<Row extends TransferRow>(
  table: TransferTableName,
  { pages: all }: Index,
  read: (place: ChunkPlace) => Promise<BackupRecord>,
): TransferReader<Row> {
  const pagesOf = Map.groupBy(
    all.filter(page => page.table === table),
    ({ factory }) => factory,
  );
  return {
    read: async (factory, after) => {
      const page = findNext(pagesOf.get(factory) ?? [], after);
      const record = page && (await read(page.place));
      if (record?.kind !== 'rows') return [];
      // hookmill wrote them as rows of this table.
      return record.rows.filter(({ position }) => position > after) as Row[];
    },
  };
}

/** The first page that ends after this position, found in as many steps as their number has binary digits. */
function findNext(pages: readonly Page[], after: number): Page | undefined {
  let [from, to] = [0, pages.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((pages[middle]?.lastPosition ?? 0) > after) to = middle;
    else from = middle + 1;
  }
  return pages[from];
}
