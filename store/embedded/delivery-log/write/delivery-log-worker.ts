import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../../../delivery-log/thread/wire.ts';
import { openDatabase } from '../sql/database.ts';
import { watchLogFiles } from '../sql/log-failure.ts';
import { prepareCommit, toFailed } from './commit-batch.ts';

// The thread that writes the delivery log. It owns the only writing connection of this process.
serve(workerData.file);

function serve(file: string): void {
  const port = parentPort;
  if (!port) throw new Error('the delivery log worker runs in a worker thread');
  const reply = (message: FromWorker) => port.postMessage(message);
  try {
    const database = openDatabase(file);
    const commit = prepareCommit(database, file, watchLogFiles(file));
    port.on('message', (message: ToWorker) => {
      if (message.kind === 'batch') return reply(commit(message));
      // The last connection to close moves the write-ahead log into the file.
      database.close();
      port.close();
    });
    reply({ kind: 'opened' });
  } catch (error) {
    reply(toFailed('refused', file, error));
  }
}
