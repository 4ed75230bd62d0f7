import { parentPort, workerData } from 'node:worker_threads';
import { type Query, type QueryAnswer, toQueryError } from './query.ts';
import { answerQuery, openSqliteReader, type SqliteReader } from './reader.ts';

// The thread that answers the management API's queries. It never writes.
serve(workerData.file);

function serve(file: string): void {
  const port = parentPort;
  if (!port) throw new Error('the query worker runs in a worker thread');
  let reader: SqliteReader | undefined;
  const answer = ({ id, verb, arguments: given }: Query): QueryAnswer => {
    try {
      reader ??= openSqliteReader(file);
      return { id, ok: true, result: answerQuery(reader, verb, given) };
    } catch (error) {
      return { id, ok: false, error: toQueryError(error) };
    }
  };
  port.on('message', (query: Query | 'close') => {
    if (query !== 'close') return port.postMessage(answer(query));
    reader?.close();
    port.close();
  });
}
