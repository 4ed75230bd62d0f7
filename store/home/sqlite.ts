import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

/** A prepared statement with the parameters `P` and rows of the type `R`. */
export interface Statement<P extends readonly unknown[], R> {
  run(...parameters: P): { readonly changes: number; readonly lastInsertRowid: number };
  get(...parameters: P): R | undefined;
  all(...parameters: P): R[];
  iterate(...parameters: P): IterableIterator<R>;
}

/** A statement whose rows have one column. */
export type ColumnStatement<P extends readonly unknown[], V> = Pick<Statement<P, V>, 'get' | 'all'>;

/** @limit Wait for another connection's lock, in ms, unless whoever opens says another one: commands may wait, and a checkpoint takes less. */
const busyTimeoutMs = 5_000;

type Tuple<P> = P extends readonly unknown[] ? P : [P];

/** A connection to a file of SQLite. */
export class SqliteDatabase {
  readonly #connection: DatabaseSync;

  /** Opens a file, and creates it if it is missing; `:memory:` is none. `timeoutMs` is the wait for another connection's lock. */
  constructor(file: string, options: { readonly readOnly?: boolean; readonly timeoutMs?: number } = {}) {
    const { readOnly = false, timeoutMs = busyTimeoutMs } = options;
    this.#connection = new DatabaseSync(file, { readOnly, timeout: timeoutMs });
  }

  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  prepare<P = unknown[], R = unknown>(sql: string): Statement<Tuple<P>, R> {
    return this.#prepare(sql) as unknown as Statement<Tuple<P>, R>;
  }

  /** Prepares a statement whose rows are arrays of their columns. */
  prepareArrays<P = unknown[], R = unknown>(sql: string): Statement<Tuple<P>, R> {
    const statement = this.#prepare(sql);
    statement.setReturnArrays(true);
    return statement as unknown as Statement<Tuple<P>, R>;
  }

  /** Prepares a statement whose rows have one column. */
  prepareColumn<P = unknown[], V = unknown>(sql: string): ColumnStatement<Tuple<P>, V> {
    const statement = this.prepareArrays<P, [V]>(sql);
    return {
      get: (...parameters) => statement.get(...parameters)?.[0],
      all: (...parameters) => statement.all(...parameters).map(([value]) => value),
    };
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#connection.prepare(sql);
    // Rows are given as parameters too, with more columns than a statement names.
    statement.setAllowUnknownNamedParameters(true);
    return statement;
  }

  /** Executes statements without parameters. */
  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Reads or sets a pragma. Returns the first column of its first row. */
  pragma(pragma: string): unknown {
    return this.prepareColumn<[]>(`PRAGMA ${pragma}`).get();
  }

  /** Does all of `work` in one transaction that writes, or nothing if it throws. */
  transact<T>(work: () => T): T {
    this.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite may have rolled it back by itself.
      if (this.inTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }

  /** Adds a function to the SQL of this connection. */
  addFunction(name: string, compute: (...values: SQLOutputValue[]) => SQLInputValue): void {
    this.#connection.function(name, { varargs: true }, compute);
  }

  close(): void {
    if (this.#connection.isOpen) this.#connection.close();
  }
}

/** The results of SQLite that hookmill tells apart (https://sqlite.org/rescode.html). */
const results: ReadonlyMap<number, SqliteResult> = new Map([
  [5, 'busy'],
  [8, 'readonly'],
  [10, 'io'],
  [11, 'damaged'],
  [13, 'full'],
  [26, 'damaged'],
]);

export type SqliteResult = 'busy' | 'readonly' | 'io' | 'damaged' | 'full' | 'other';

/** Finds the result that an error of SQLite reports; undefined for another error. */
export function findSqliteResult(error: unknown): SqliteResult | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  // An extended code has the code in its lowest byte.
  return results.get(Number(error.errcode) & 0xff) ?? 'other';
}
