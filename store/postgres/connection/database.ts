import type { QueryResultRow } from 'pg';
import { StoreError } from '../../ports/store-error.ts';
import { migrateOnce } from '../migrations.ts';
import {
  describeTarget,
  inTransaction,
  limitStatement,
  openPool,
  statementMs,
  waitForClose,
} from './pool.ts';
import { postgresFailure } from './postgres-failure.ts';

/** @limit Connections on which one thread reads documents and outputs of runs. */
const readConnectionsMax = 2;
/** @limit Connections of one thread for changes under a lock. They are separate, because a change may read. */
const changeConnectionsMax = 4;

/** Runs a statement, for which PostgreSQL has `limitMs`, and returns its rows. Fails with StoreError. */
export type RunStatement = <R extends QueryResultRow>(
  text: string,
  values?: readonly unknown[],
  limitMs?: number,
) => Promise<R[]>;

/** A database, for everything but the delivery log. */
export interface Database {
  /** Names host, port and database in messages. */
  readonly name: string;
  readonly run: RunStatement;
  /** Runs `work` in a transaction. The errors of `work` pass through. */
  change<T>(work: (run: RunStatement) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens a database. When it is first used, it connects, and creates or updates the tables. */
export function connectDatabase(url: string): Database {
  const name = describeTarget(url);
  const failed = postgresFailure(url);
  const reads = openPool(url, { connectionsMax: readConnectionsMax });
  const changes = openPool(url, { connectionsMax: changeConnectionsMax });
  const migrate = migrateOnce(reads);
  const migrated = () => migrate().catch(failed);
  const runOn =
    (connection: Pick<typeof reads, 'query'>): RunStatement =>
    async (text, values = [], limitMs = statementMs) => {
      await migrated();
      return (await connection.query(limitStatement(limitMs, text, values)).catch(failed)).rows;
    };
  let closing: Promise<void> | undefined;
  return {
    name,
    run: runOn(reads),
    change: async work => {
      await migrated();
      let stage: 'begin' | 'work' | 'commit' = 'begin';
      const inStages = async (run: RunStatement) => {
        stage = 'work';
        const result = await work(run);
        stage = 'commit';
        return result;
      };
      return inTransaction(changes, client => inStages(runOn(client))).catch((error: unknown) => {
        if (stage === 'begin') return failed(error);
        if (stage === 'work') throw error;
        throw unknownCommit(name, error);
      });
    },
    close: async () => {
      closing ??= waitForClose(Promise.all([reads.end(), changes.end()]));
      await closing;
    },
  };
}

function unknownCommit(name: string, cause: unknown): StoreError {
  const message = `the connection to the database ${name} was lost during a commit; check whether the change took effect`;
  return new StoreError('unreachable', message, { cause });
}
