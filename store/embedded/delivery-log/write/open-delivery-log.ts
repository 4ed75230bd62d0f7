import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DeliveryLog, DeliveryLogOptions, Pruned, PruneRule } from '../../../delivery-log.ts';
import { DeliveryLogError } from '../../../delivery-log-error.ts';
import { GroupCommit } from '../../../delivery-log-thread/group-commit.ts';
import type { FromWorker, PrunePosition } from '../../../delivery-log-thread/wire.ts';

/**
 * Opens the delivery log in a thread of its own. The file is created if it is missing; its directory must exist.
 * Rejects with DeliveryLogError `version` or `unsafe`, or with an error of the file system.
 */
export async function openDeliveryLog(file: string, options: DeliveryLogOptions = {}): Promise<DeliveryLog> {
  const commits = new GroupCommit(await startWorker(file), options);
  return {
    recordAccepted: delivery => commits.recordAccepted(delivery),
    recordUnidentified: delivery => commits.recordUnidentified(delivery),
    readEvent: deliveryId => commits.ask('readEvent', deliveryId),
    readSnapshot: digest => commits.ask('readSnapshot', digest),
    claimRuns: claim => commits.ask('claimRuns', claim),
    finishRun: result => commits.ask('finishRun', result),
    postponeRun: postponement => commits.ask('postponeRun', postponement),
    requeueRunsOfOthers: daemonId => commits.ask('requeueRunsOfOthers', daemonId),
    correctDueTimes: correction => commits.ask('correctDueTimes', correction),
    retryRun: run => commits.ask('retryRun', run),
    replay: replay => commits.ask('replay', replay),
    prune: rule => prune(commits, rule),
    stats: () => commits.stats(),
    describeTrouble: () => commits.describeTrouble(),
    close: () => commits.close(),
  };
}

async function startWorker(file: string): Promise<Worker> {
  // Sources run as .ts, the build as .js.
  const script = new URL(`./delivery-log-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(script, { workerData: { file } });
  const [answer]: FromWorker[] = await once(worker, 'message');
  if (answer?.kind === 'opened') return worker;
  await worker.terminate();
  throw refusal(file, answer);
}

function refusal(file: string, answer: FromWorker | undefined): Error {
  if (answer?.kind !== 'refused') return new Error(`the delivery log ${file} cannot be opened`);
  const { code, message, error: cause } = answer;
  return new DeliveryLogError(code, message.includes(file) ? message : `${file}: ${message}`, { cause });
}

async function prune(commits: GroupCommit, rule: PruneRule): Promise<Pruned> {
  const runIds: string[] = [];
  let deliveries = 0;
  let after: PrunePosition | undefined;
  do {
    const step = await commits.askSeparately('pruneStep', after ? { ...rule, after } : rule);
    deliveries += step.deliveries;
    runIds.push(...step.runIds);
    after = step.next;
  } while (after);
  return { deliveries, runIds };
}
