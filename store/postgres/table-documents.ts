import { hostname } from 'node:os';
import { lookRegularly } from '../look-regularly.ts';
import {
  type DocumentId,
  type DocumentKind,
  type Documents,
  movedError,
  nameDocument,
  type OnStateChange,
  type StoredDocument,
  type Unparsed,
  type Watch,
} from '../ports/documents.ts';
import { StoreError } from '../ports/store-error.ts';
import { parseDocument, renderDocument } from '../stored-json.ts';
import type { Database, RunStatement } from './connection/database.ts';
import { listenForChanges, notificationChannel } from './connection/listen-for-changes.ts';
import { statementMs } from './connection/pool.ts';

/** @limit Shortest time between two looks at the documents without a notification, in ms: a pooler may drop notifications. */
const pollMs = 2_000;
/** @limit Documents that are read in one statement: an applied state may have some MB. */
const documentsAtOnce = 16;
/** @limit Time in which the holder of a document's lock must show that it lives, in ms: then PostgreSQL frees the lock. */
const holdMs = 30_000;

export interface TableDocumentsOptions {
  readonly database: Database;
  /** The URL for notifications. */
  readonly directUrl: string;
  readonly lockTimeoutMs: number;
}

/** The documents of a database, each a row of `hookmill.documents`. */
export function openTableDocuments({ database, directUrl, lockTimeoutMs }: TableDocumentsOptions): Documents {
  const known = new Map<string, { readonly version: string; readonly data: object }>();
  return {
    read: async <T extends object>(document: StoredDocument<T>) => {
      const name = nameDocument(document);
      const before = known.get(name);
      const version = before && (await readVersion(database.run, document));
      // It was read as the same kind of document.
      if (before && before.version === version) return before.data as T;
      const row = await readRow(database.run, document);
      const data = toData(database, document, row);
      if (row) known.set(name, { version: String(row.version), data });
      return data;
    },
    change: async (document, change) =>
      database.change(async run => {
        await takeLock(database, run, document, lockTimeoutMs);
        const row = await readRow(run, document);
        const data = toData(database, document, row);
        const { next, result } = await whileAlive(run, () => change(data));
        if (!next) return { data, result };
        await writeRow(database, run, document, next, row);
        return { data: next, result };
      }),
    // As for a file that cannot be read, a read of the document then fails with the reason.
    readVersion: id =>
      readVersion(database.run, id).catch((error: unknown) =>
        error instanceof StoreError ? error.code : 'failed',
      ),
    readEach: documents => readEach(database, documents),
    listFactories: () => listFactories(database.run),
    watch: onChange => watchDocuments(directUrl, onChange),
  };
}

interface Row {
  readonly version: number;
  readonly json: string;
}

async function readRow(run: RunStatement, { kind, factory = '' }: DocumentId): Promise<Row | undefined> {
  const text = 'SELECT version, json FROM hookmill.documents WHERE kind = $1 AND factory = $2';
  return (await run<Row>(text, [kind, factory]))[0];
}

async function readVersion(
  run: RunStatement,
  { kind, factory = '' }: DocumentId,
): Promise<string | undefined> {
  const text = 'SELECT version::text FROM hookmill.documents WHERE kind = $1 AND factory = $2';
  return (await run<{ version: string }>(text, [kind, factory]))[0]?.version;
}

async function* readEach<T extends object>(
  database: Database,
  documents: readonly StoredDocument<T>[],
): AsyncIterable<Unparsed<T> & { readonly id: DocumentId }> {
  const text = `
    SELECT version, json FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (kind, factory, place)
    LEFT JOIN hookmill.documents USING (kind, factory) ORDER BY place`;
  for (let start = 0; start < documents.length; start += documentsAtOnce) {
    const wanted = documents.slice(start, start + documentsAtOnce);
    const kinds = wanted.map(({ kind }) => kind);
    const factories = wanted.map(({ factory = '' }) => factory);
    const rows = await database.run<Row | { version: null }>(text, [kinds, factories]);
    for (const [index, document] of wanted.entries()) {
      const row = rows[index];
      const stored = row && row.version !== null ? row : undefined;
      yield {
        id: document,
        version: stored && String(stored.version),
        size: stored?.json.length ?? 0,
        parse: () => toData(database, document, stored),
      };
    }
  }
}

async function listFactories(run: RunStatement): Promise<string[]> {
  const text = `SELECT DISTINCT factory FROM hookmill.documents WHERE kind IN ('applied', 'reconcile')`;
  return (await run<{ factory: string }>(text)).map(({ factory }) => factory).sort();
}

function toData<T extends object>(database: Database, document: StoredDocument<T>, row: Row | undefined): T {
  return row ? parseDocument(describe(database, document), row.json, document) : document.whenMissing;
}

function describe({ name }: Database, { kind, factory }: DocumentId): string {
  const owner = factory === undefined ? '' : ` of the factory ${factory}`;
  return `${documentNames[kind]}${owner} in the database ${name}`;
}

const documentNames: Readonly<Record<DocumentKind, string>> = {
  applied: 'the applied state',
  reconcile: 'the reconcile status',
  secrets: 'the document of team secrets',
  sessions: 'the sessions of the dashboard',
  tokens: 'the document of API tokens',
  alerts: 'the document of alerts',
  issuers: 'the keys of issuers',
  runners: 'the offered runners',
  senders: 'what was learned of senders',
  copy: 'the state of a copy',
};

/**
 * Takes the document's lock until the end of the transaction, whether there is a row or not. A process that was paused
 * loses it, so that others can work; then nothing that it changes is committed.
 */
async function takeLock(
  database: Database,
  run: RunStatement,
  document: DocumentId,
  lockTimeoutMs: number,
): Promise<void> {
  const command = process.argv.slice(2).join(' ').slice(0, 24);
  const holder = `hookmill ${command} (pid ${process.pid} on ${hostname()})`;
  // 0 would mean no limit. A change is rare: it waits for the disk even if the cluster's deliveries do not.
  await run(
    `SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true),
       set_config('application_name', $3, true),
       set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)`,
    [String(Math.max(1, lockTimeoutMs)), String(holdMs), holder],
  );
  // The commit waits longer than for a lock: all commits that notify take turns, in the whole server.
  const text = `SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), set_config('lock_timeout', '0', true)`;
  await run(text, [lockName(document)], statementMs + lockTimeoutMs).catch(async (error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== 'locked') throw error;
    const other = await findHolder(database.run, document).catch(() => undefined);
    const message = `${describe(database, document)} is locked by ${other ?? 'another hookmill'}; try again later`;
    throw new StoreError('locked', message, { cause: error });
  });
}

async function findHolder(run: RunStatement, document: DocumentId): Promise<string | undefined> {
  const [row] = await run<{ holder: string }>(
    `WITH lock AS (SELECT hashtextextended($1, 0) AS key)
     SELECT application_name AS holder FROM lock, pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND objsubid = 1
       AND classid = ((key >> 32) & 4294967295)::oid AND objid = (key & 4294967295)::oid`,
    [lockName(document)],
  );
  return row?.holder || undefined;
}

function lockName(document: DocumentId): string {
  return `hookmill document ${nameDocument(document)}`;
}

/** Keeps the transaction alive during `work`, which may ask a person. */
async function whileAlive<T>(run: RunStatement, work: () => Promise<T>): Promise<T> {
  // If the connection is lost, the next statement of the change fails.
  const timer = setInterval(() => run('SELECT 1').catch(() => undefined), holdMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function writeRow(
  database: Database,
  run: RunStatement,
  document: DocumentId,
  data: object,
  before: Row | undefined,
): Promise<void> {
  const { kind, factory = '' } = document;
  // The version contains the time, so that none comes back after a backup was restored.
  const written = await run(
    `INSERT INTO hookmill.documents AS stored (kind, factory, version, json)
     VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, $3)
     ON CONFLICT (kind, factory) DO UPDATE
       SET version = greatest(stored.version + 1, excluded.version), json = excluded.json
       WHERE stored.version = $4 AND stored.json = $5
     RETURNING version`,
    [kind, factory, renderDocument(data), before?.version, before?.json],
  );
  if (written.length === 0) throw movedError(describe(database, document));
  await run('SELECT pg_notify($1, $2)', [notificationChannel, kind]);
}

async function watchDocuments(directUrl: string, onChange: OnStateChange): Promise<Watch> {
  const notifications = await listenForChanges(directUrl, 'applied', onChange);
  const endPolls = lookRegularly(() => onChange(), pollMs);
  return {
    close: async () => {
      endPolls();
      await notifications.close();
    },
  };
}
