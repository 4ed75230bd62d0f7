import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DeliveryLog, DeliveryLogOptions, Pruned, PruneRule } from '../../ports/delivery-log.ts';
import { DeliveryLogError } from '../../ports/store-error.ts';
import { GroupCommit, type ThreadManner } from './group-commit.ts';
import {
  type Argument,
  type AsyncVerbTable,
  commandManners,
  type FromWorker,
  type PrunePosition,
  type Verb,
} from './wire.ts';

export interface LogThread extends ThreadManner {
  /** The thread's script, which speaks the messages of `wire.ts`. */
  readonly script: URL;
  readonly workerData: object;
  /** Names the log in messages: a file, or a database. */
  readonly name: string;
}

/** Opens a delivery log whose thread commits what arrives together. Rejects with DeliveryLogError if the thread refuses. */
export async function openLogThread(thread: LogThread, options: DeliveryLogOptions): Promise<DeliveryLog> {
  return toDeliveryLog(new GroupCommit(await startWorker(thread), thread, options));
}

/** The log of a thread that has opened it. */
export function toDeliveryLog(commits: GroupCommit): DeliveryLog {
  const { pruneStep, ...methods } = toMethods(commits);
  return {
    ...methods,
    recordAccepted: delivery => commits.recordAccepted(delivery),
    recordUnidentified: delivery => commits.recordUnidentified(delivery),
    prune: rule => prune(pruneStep, rule),
    stats: () => commits.stats(),
    describeTrouble: () => commits.describeTrouble(),
    close: () => commits.close(),
  };
}

/** Makes a method of each command, which queues it. */
function toMethods(commits: GroupCommit): AsyncVerbTable {
  const verbs = Object.keys(commandManners) as Verb[];
  const methods = verbs.map(verb => [verb, (argument: Argument<Verb>) => commits.ask(verb, argument)]);
  return Object.fromEntries(methods);
}

async function startWorker({ script, workerData, name }: LogThread): Promise<Worker> {
  const worker = new Worker(script, { workerData });
  const [answer]: FromWorker[] = await once(worker, 'message');
  if (answer?.kind === 'opened') return worker;
  await worker.terminate();
  throw refusal(name, answer);
}

function refusal(name: string, answer: FromWorker | undefined): Error {
  if (answer?.kind !== 'refused') return new Error(`the delivery log ${name} cannot be opened`);
  const { code, message, error: cause } = answer;
  return new DeliveryLogError(code, message.includes(name) ? message : `${name}: ${message}`, { cause });
}

async function prune(pruneStep: AsyncVerbTable['pruneStep'], rule: PruneRule): Promise<Pruned> {
  const runIds: string[] = [];
  let isEachRunKnown = true;
  let deliveries = 0;
  let after: PrunePosition | undefined;
  do {
    const step = await pruneStep(after ? { ...rule, after } : rule);
    deliveries += step.deliveries;
    if (step.runIds) runIds.push(...step.runIds);
    else isEachRunKnown = false;
    after = step.next;
  } while (after);
  return isEachRunKnown ? { deliveries, runIds } : { deliveries };
}
