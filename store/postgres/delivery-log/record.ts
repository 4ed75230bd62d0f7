import type { Pool } from 'pg';
import { toReleasedIdentity } from '../../../schema/delivery.ts';
import { deliveriesPerRunMax, deliveryBytesPerRunMax } from '../../delivery-log/run-flow.ts';
import type {
  AcceptedRow,
  Committed,
  DeliveryRow,
  Duplicate,
  UnidentifiedRow,
} from '../../delivery-log/thread/wire.ts';
import type { AppliedStateRef } from '../../ports/delivery-log.ts';
import { deliverySizeMax } from '../../ports/transfer.ts';
import { toColumns, toStorableText } from '../connection/text.ts';
import { toDay } from './partitions.ts';
import type { Retries } from './retries.ts';
import { supersedeEarlier } from './run-changes.ts';
import type { PostgresSnapshots } from './snapshots.ts';

type Recorded = Pick<Committed, 'duplicates' | 'runsQueued'>;
type Record = (rows: readonly DeliveryRow[], payloads: ArrayBuffer, retries: Retries) => Promise<Recorded>;

/** A row of a batch with its payload, and the applied state that judged it. */
interface Entry {
  readonly index: number;
  readonly row: AcceptedRow | UnidentifiedRow;
  readonly payload: Uint8Array;
  readonly state: AppliedStateRef | undefined;
}

/**
 * Records a batch's rows, in one transaction and one round trip unless two of them are the same delivery, or are so only for
 * a time.
 */
export function prepareRecord(pool: Pool, snapshots: PostgresSnapshots): Record {
  /** Returns the keys of the states' snapshots by their digests. */
  const storeSnapshots = async (wave: readonly Entry[], day: number): Promise<Map<string, number>> => {
    const keys = new Map<string, number>();
    for (const { state } of wave) {
      if (!state || keys.has(state.digest)) continue;
      keys.set(
        state.digest,
        snapshots.findKey(state.digest, day) ?? (await snapshots.store(pool, state, day)),
      );
    }
    return keys;
  };
  return async (rows, payloads, retries) => {
    // Before anything is awaited, because the texts of snapshots are sent once, in the order of batches.
    const states = rows.map(
      ({ factory, appliedState }) => appliedState && snapshots.complete(factory, appliedState),
    );
    const entries = toEntries(rows, payloads, states);
    const days = [...new Set(rows.map(({ atMs }) => toDay(atMs)))];
    const duplicates: Duplicate[] = [];
    for (const wave of toWaves(entries)) {
      const originals = await retries.run(async attempt => {
        if (attempt > 1) snapshots.forgetKeys();
        const found = await recordWave(wave, await storeSnapshots(wave, Math.max(...days)), retries);
        // A server that ended the connection may have committed without waiting for its standby. Then nothing was written
        // now, and nothing waited; but what is written after it reaches the standby after it.
        if (attempt > 1) await retries.probe();
        return found;
      }, days);
      for (const { index, row } of wave) {
        const of = originals.get(row.id);
        if (of !== undefined) duplicates.push({ index, of });
        else if (row.outcome === 'Accepted')
          await retries.run(() => supersedeEarlier(pool, row.runs, row.atMs));
      }
    }
    const repeated = new Set(duplicates.map(({ index }) => index));
    const runsQueued = rows.some(
      (row, index) => 'runs' in row && row.runs.length > 0 && !repeated.has(index),
    );
    return { duplicates, runsQueued };
  };
}

function toEntries(
  rows: readonly DeliveryRow[],
  payloads: ArrayBuffer,
  states: readonly (AppliedStateRef | undefined)[],
): Entry[] {
  let offset = 0;
  return rows.map((row, index) => {
    const length = row.outcome === 'Accepted' ? row.payloadBytes : 0;
    const payload = new Uint8Array(payloads, offset, length);
    offset += length;
    return { index, row, payload, state: states[index] };
  });
}

/**
 * Splits rows so that the first of several accepted ones with the same identity or content is recorded before the
 * others: they are its duplicates, or one of them is accepted if it was a duplicate itself. Usually there is one wave.
 */
function toWaves(entries: readonly Entry[]): Entry[][] {
  const seen = new Set<string>();
  const [first, later]: [Entry[], Entry[]] = [[], []];
  for (const entry of entries) {
    const keys = listKeys(entry.row);
    (keys.some(key => seen.has(key)) ? later : first).push(entry);
    for (const key of keys) seen.add(key);
  }
  return [first, later].filter(wave => wave.length > 0);
}

function listKeys(row: AcceptedRow | UnidentifiedRow): string[] {
  if (row.outcome !== 'Accepted') return [];
  const { uid, identitySource, identity, contentDigest } = row;
  const key = `${uid}\n${identitySource}\n${identity}`;
  return contentDigest === undefined ? [key] : [key, `${uid}\n\n${contentDigest}`];
}

/** Returns the duplicates' ids with the ids of their originals. */
async function recordWave(
  wave: readonly Entry[],
  snapshotKeys: ReadonlyMap<string, number>,
  retries: Retries,
): Promise<Map<string, string>> {
  await releaseIdentities(wave, retries);
  const runs = wave.flatMap(({ row }) =>
    row.outcome === 'Accepted' ? row.runs.map(run => ({ ...run, deliveryId: row.id })) : [],
  );
  const flowing = runs.filter(({ flow }) => flow !== undefined);
  const values = [
    ...listDeliveryValues(wave, snapshotKeys),
    ...toColumns(
      runs.filter(({ flow }) => flow === undefined),
      ['id', 'deliveryId', 'automation'],
    ),
    [...snapshotKeys.values()],
    [...snapshotKeys.keys()],
  ];
  const previous = wave.flatMap(({ row }) => (row.verifiedWith === 'previous' ? row.id : []));
  const isPlain = flowing.length === 0 && previous.length === 0;
  const name = isPlain ? 'record_batch' : previous.length === 0 ? 'record_flows' : 'record_previous';
  if (previous.length > 0) values.unshift(previous);
  if (!isPlain) {
    values.push(...toColumns(flowing, ['id', 'deliveryId', 'automation', 'flow']));
    values.push([deliveriesPerRunMax, deliveryBytesPerRunMax]);
  }
  const parameters = values.map((_, index) => `$${index + 1}`).join(', ');
  const text = `SELECT duplicate, original FROM hookmill.${name}(${parameters})`;
  const { rows } = await retries.query<{ duplicate: string; original: string }>({ name, text, values });
  return new Map(rows.map(({ duplicate, original }) => [duplicate, original]));
}

/**
 * Gives earlier deliveries with the identities of new ones other identities, unless they still are the same ones. Nothing is
 * lost if the new ones are not recorded: what is the same only for a time is over for any later delivery too.
 */
async function releaseIdentities(wave: readonly Entry[], retries: Retries): Promise<void> {
  const rows = wave.flatMap(({ row }) => ('sameForMs' in row && row.sameForMs !== undefined ? row : []));
  if (rows.length === 0) return;
  const values = toColumns(rows, ['uid', 'identity', 'identitySource', 'atMs', 'sameForMs']);
  await retries.query({ name: 'release_identities', text: releasing, values });
}

const released = toReleasedIdentity('%1$s', '%2$s');

// What retention has removed is older than any time for which deliveries are the same.
const releasing = `
  WITH released AS (
    UPDATE hookmill.accepted
    SET identity = hookmill.accepted_key(uid, identity_source, format('${released}', given.identity, delivery_id))
    FROM (SELECT DISTINCT ON (uid, identity) * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
      AS rows (uid, identity, identity_source, at_ms, same_for_ms) ORDER BY uid, identity, at_ms) AS given
    WHERE accepted.identity = hookmill.accepted_key(uid, identity_source, given.identity) AND NOT EXISTS (
      SELECT FROM hookmill.deliveries WHERE id = delivery_id AND deliveries.day = accepted.day
        AND abs(deliveries.at_ms - given.at_ms) < same_for_ms)
    RETURNING delivery_id, day, format('${released}', given.identity, delivery_id) AS identity
  )
  UPDATE hookmill.deliveries SET identity = released.identity
  FROM released WHERE id = delivery_id AND deliveries.day = released.day`;

/** Returns the parameters of `record_batch`, and of the functions that call it, which describe deliveries. */
function listDeliveryValues(wave: readonly Entry[], snapshotKeys: ReadonlyMap<string, number>): unknown[] {
  const rows = wave.map(({ row }) => row);
  const accepted = wave.map(({ row }) => (row.outcome === 'Accepted' ? row : undefined));
  let start = 0;
  const starts = wave.map(({ payload }) => {
    start += payload.length;
    return start - payload.length;
  });
  return [
    ...toColumns(rows, ['id', 'factory', 'webhook', 'uid', 'atMs']),
    rows.map(({ size }) => Math.min(size, deliverySizeMax)),
    ...toColumns(rows, ['outcome']),
    ...toColumns(accepted, ['identity', 'identitySource', 'contentDigest', 'bodyIdentity']),
    ...toColumns(rows, ['authenticatedBy']),
    rows.map(row => ('reason' in row && row.reason !== undefined ? toStorableText(row.reason) : null)),
    wave.map(({ state }) => (state ? snapshotKeys.get(state.digest) : null)),
    ...toColumns(accepted, ['headers', 'form']),
    starts,
    wave.map(({ payload }) => payload.length),
    Buffer.concat(wave.map(({ payload }) => payload)),
  ];
}
