import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { parseJsonText } from '../../json/parse-json-text.ts';
import type { DocumentId } from '../ports/documents.ts';
import type { TransferRow, TransferTableName } from '../ports/transfer.ts';

/** The facts at the end of a backup. */
export interface BackupFacts {
  readonly createdAt: string;
  /** Whether the payloads of deliveries and the outputs of runs were left out. */
  readonly isWithoutPayloads: boolean;
  /** The number of identities by which a delivery would be recognised as a duplicate. */
  readonly identities: number;
}

/** One part of a backup. The rows of a factory's table are in several, in their order. */
export type BackupRecord =
  | {
      readonly kind: 'rows';
      readonly table: TransferTableName;
      readonly factory: string;
      readonly rows: readonly TransferRow[];
    }
  | { readonly kind: 'snapshot'; readonly digest: string; readonly json: string }
  | { readonly kind: 'document'; readonly id: DocumentId; readonly text: string }
  | ({ readonly kind: 'end' } & BackupFacts);

/** Packs a record: the length of its JSON (4 bytes, big-endian), the JSON, and the bytes of its rows; all of it as gzip. */
export async function packRecord(record: BackupRecord): Promise<Buffer> {
  const rows = record.kind === 'rows' ? record.rows : [];
  const lengths = rows.map(row => ({ ...row, bytes: row.bytes?.length ?? null }));
  const json = Buffer.from(JSON.stringify(record.kind === 'rows' ? { ...record, rows: lengths } : record));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return promisify(gzip)(Buffer.concat([length, json, ...rows.flatMap(({ bytes }) => bytes ?? [])]));
}

/** The columns that rows of earlier formats do not have. */
const laterColumns: Readonly<Partial<Record<TransferTableName, object>>> = {
  deliveries: { verifiedWith: null },
  runs: { cancel: null, afterwards: null, againOf: null, history: null, interrupted: null },
};

/** Unpacks a record that `packRecord` made: its origin must be certain. */
export async function unpackRecord(packed: Uint8Array): Promise<BackupRecord> {
  const content = await promisify(gunzip)(packed);
  let position = 4 + content.readUInt32BE();
  const record = parseJsonText(content.toString('utf8', 4, position)) as BackupRecord;
  if (record.kind !== 'rows') return record;
  const rows = record.rows.map(given => {
    const row = { ...laterColumns[record.table], ...given };
    if (row.bytes === null) return row;
    const start = position;
    position += Number(row.bytes);
    return { ...row, bytes: content.subarray(start, position) };
  });
  return { ...record, rows };
}
