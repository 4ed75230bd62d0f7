import { parentPort, workerData } from 'node:worker_threads';
import { answerThread } from '../../../call-thread.ts';
import { openProcessReader } from './open-reader.ts';

// The thread that answers the management API's queries. It never writes.
const reader = openProcessReader(workerData.file);
answerThread(parentPort, { ...reader }, async () => {
  await reader.close();
  parentPort?.close();
});
