import { parentPort, workerData } from 'node:worker_threads';
import type { Query, QueryAnswer } from './query-wire.ts';
import { openSqliteReader, type SqliteReader } from './reader.ts';

// The thread that answers what management asks of the delivery log. It never writes.
serve(openSqliteReader(workerData.file));

function serve(reader: SqliteReader): void {
  const port = parentPort;
  if (!port) throw new Error('the query worker runs in a worker thread');
  port.on('message', (query: Query | 'close') => {
    if (query !== 'close') return port.postMessage(answer(reader, query));
    reader.close();
    port.close();
  });
}

function answer(reader: SqliteReader, { id, verb, arguments: given }: Query): QueryAnswer {
  try {
    // The client's types are the reader's own: each verb comes with its arguments.
    const ask: (...given: unknown[]) => unknown = reader[verb] as never;
    return { id, ok: true, result: ask(...given) };
  } catch (error) {
    return { id, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
