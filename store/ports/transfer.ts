import type { RunState } from '../../schema/delivery.ts';
import type { DeliveryMetadata, Pause, UnloggedCount } from './delivery-log.ts';
import type { Documents } from './documents.ts';

/** @limit Rows that are copied to another store in one transaction: fewer would sync too often, more would only need memory. */
export const rowsPerPageMax = 1_000;
/** @limit Bytes of payloads or outputs after which a page of copied rows ends, in bytes: copying needs a few times this memory. */
export const pageBytesMax = 4 * 1024 * 1024;

/** @limit Largest size of a delivery that a store can take over, in bytes: a refused request may claim any Content-Length. */
export const deliverySizeMax = 2_147_483_647;

/** The kinds of rows that are copied, those first that others refer to. */
export const transferTables = ['deliveries', 'runs', 'pauses', 'unlogged', 'audit'] as const;
export type TransferTableName = (typeof transferTables)[number];

interface TransferRows {
  readonly deliveries: TransferDelivery;
  readonly runs: TransferRun;
  readonly pauses: TransferPause;
  readonly unlogged: TransferUnlogged;
  readonly audit: TransferAudit;
}

type TransferReaders = { readonly [Name in TransferTableName]: TransferReader<TransferRows[Name]> };
type TransferTables = { readonly [Name in TransferTableName]: TransferTable<TransferRows[Name]> };

/** A store to copy from: everything that it keeps, as it is kept. */
export interface TransferSource extends TransferReaders {
  readonly documents: Pick<Documents, 'read' | 'listFactories'>;
  /** The factories that there are rows of, sorted. The empty name stands for unknown URLs, and for the audit log. */
  listLoggedFactories(): Promise<string[]>;
  /** The number of identities by which a delivery would be recognised as a duplicate. */
  countIdentities(): Promise<number>;
  readSnapshot(digest: string): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A store to copy to. Its content must be the beginning of the source's. */
export interface TransferTarget extends TransferTables {
  readonly documents: Pick<Documents, 'read' | 'change' | 'listFactories'>;
  listLoggedFactories(): Promise<string[]>;
}

/** A store that is being copied from or to. No daemon serves it until it is closed. */
export type Transfer = TransferSource & TransferTarget & { readonly documents: Documents };

/** Rows of the delivery log, in the order in which they were recorded. */
export interface TransferReader<Row extends TransferRow> {
  /** Reads the next page of a factory's rows after this position; no rows at the end. Positions are above 0. */
  read(factory: string, after: number): Promise<Row[]>;
}

export interface TransferTable<Row extends TransferRow> extends TransferReader<Row> {
  /** Appends a page of rows: all of them, or none. The store has or gets the snapshots that they name. */
  write(rows: readonly Row[], snapshots: readonly TransferSnapshot[]): Promise<void>;
}

export interface TransferSnapshot {
  readonly digest: string;
  readonly json: string;
}

export interface TransferRow {
  /** The row's place in the order of its store. A written row gets a new one. */
  readonly position: number;
  readonly id: string;
  readonly factory: string;
  /** Digest of the automations that were applied. */
  readonly snapshot: string | null;
  /** Bytes that are kept beside the row's other values. */
  readonly bytes: Uint8Array | null;
}

/** A delivery as every adapter can keep it. */
export interface TransferDelivery
  extends TransferRow,
    Omit<DeliveryMetadata, 'appliedState' | 'authenticatedBy' | 'verifiedWith'> {
  readonly outcome: string;
  readonly identity: string | null;
  readonly identitySource: string | null;
  readonly contentDigest: string | null;
  readonly authenticatedBy: string | null;
  readonly verifiedWith: string | null;
  readonly reason: string | null;
  readonly duplicateOf: string | null;
  readonly headers: string | null;
  /** A `FormFormat` as JSON; null unless the body is a form. */
  readonly form: string | null;
  /** Null unless the delivery was accepted. */
  readonly bytes: Uint8Array | null;
}

/** A run as every adapter can keep it. */
export interface TransferRun extends TransferRow {
  readonly webhook: string;
  readonly deliveryId: string;
  readonly deliveryAtMs: number;
  readonly automation: string;
  readonly replay: boolean;
  readonly manual: boolean;
  readonly state: RunState;
  readonly attempts: number;
  readonly claims: number;
  readonly notBeforeMs: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly claimedBy: string | null;
  readonly waitsUntilMs: number | null;
  /** As JSON. */
  readonly report: string | null;
  readonly error: string | null;
  /** A `RunCancel` as JSON. */
  readonly cancel: string | null;
  /** `Afterwards` as JSON. */
  readonly afterwards: string | null;
  readonly againOf: string | null;
  /** `Interrupted` as JSON. */
  readonly interrupted: string | null;
  /** Its `PastAttempt`s as JSON. */
  readonly history: string | null;
  /** A `RunFlow` as JSON. */
  readonly flow: string | null;
  readonly stopped: boolean;
  readonly dismissed: boolean;
  /** The ids of the deliveries that it has taken up, as a JSON array; null without a burst. A copied run gathers no more. */
  readonly taken: string | null;
  /** The output of all attempts; null if there is none. */
  readonly bytes: Uint8Array | null;
}

/** A paused automation, which is also its id. */
export interface TransferPause extends TransferRow, Omit<Pause, 'untilMs'> {
  readonly untilMs: number | null;
  readonly snapshot: null;
  readonly bytes: null;
}

/** The requests of a minute that have no row. Its id only names it in messages. */
export interface TransferUnlogged extends TransferRow, UnloggedCount {
  readonly snapshot: null;
  readonly bytes: null;
}

/** An entry of the audit log. All of them are read under the empty name, in one order. */
export interface TransferAudit extends TransferRow {
  /** The entry as JSON. */
  readonly entry: string;
  readonly snapshot: null;
  readonly bytes: null;
}
