import type { Worker } from 'node:worker_threads';
import type {
  AcceptedDelivery,
  DeliveryLogOptions,
  DeliveryLogStats,
  Recorded,
  UnidentifiedDelivery,
} from '../../ports/delivery-log.ts';
import { closedError, DeliveryLogError, type DeliveryLogErrorCode } from '../../ports/store-error.ts';
import {
  countForCommit,
  countPayloadBytes,
  makeCommittedRows,
  packDeliveries,
  rejectAll,
  resolveAll,
  type WaitingBatch,
  type WaitingCommand,
  type WaitingDelivery,
} from './batch.ts';
import {
  type Argument,
  type Command,
  type Committed,
  commandManners,
  type Failed,
  type FailedBatch,
  type FromWorker,
  type Result,
  type ToWorker,
  type Verb,
} from './wire.ts';

/** @limit Longest commit of a delivery log that counts as working, in ms: slower ones make senders wait. */
const commitMsHealthy = 1_500;

/** @limit Time for which a failed commit still counts after a later one succeeded, in ms: what fails every other second does not work. */
const failureRemembersMs = 5_000;

/** Says why commits do not work, from how the last ones ended. Times are monotonic, in ms. */
class CommitHealth {
  /** The time at which each batch in flight was sent, oldest first. */
  readonly #startedMs = new Map<number, number>();
  #failure: { readonly reason: string; readonly atMs: number; readonly repaired: boolean } | undefined;

  begin(batch: number, nowMs: number): void {
    this.#startedMs.set(batch, nowMs);
  }

  /** `wrote`: whether the commit reached the disk. One that changed nothing proves nothing. */
  succeed(batch: number, wrote: boolean): void {
    this.#startedMs.delete(batch);
    if (wrote && this.#failure && !this.#failure.repaired)
      this.#failure = { ...this.#failure, repaired: true };
  }

  fail(batch: number, reason: string, nowMs: number): void {
    this.#startedMs.delete(batch);
    this.#failure = { reason, atMs: nowMs, repaired: false };
  }

  /** Undefined while commits work. */
  describe(nowMs: number): string | undefined {
    if (this.#failure && (!this.#failure.repaired || nowMs - this.#failure.atMs < failureRemembersMs)) {
      return this.#failure.reason;
    }
    const [oldestMs = nowMs] = this.#startedMs.values();
    const waitedMs = nowMs - oldestMs;
    if (waitedMs < commitMsHealthy) return undefined;
    const seconds = Math.round(waitedMs / 1_000);
    return `the delivery log has not committed for ${seconds} s: another process may have locked it, or its disk is slow`;
  }
}

/** @limit Most deliveries that wait for their commit: beyond it the answer is 503, because waiting longer helps no sender. */
const deliveriesWaitingMax = 10_000;
/** @limit Most payload bytes that wait for their commit: beyond it the answer is 503, so that memory stays bounded. */
const deliveryBytesWaitingMax = 64 * 1024 * 1024;
/** @limit Longest wait of a delivery for its commit, in ms: beyond it the answer is 503, before the sender gives up. */
const commitWaitMs = 5_000;
/** @limit Time without a write after which the delivery log is tested with a small one, in ms: `/readyz` is right within 5 s. */
const commitProbeMs = 2_500;
/** @limit Time between two looks for deliveries that wait too long, and for a log to be tested, in ms: a tenth of their wait. */
const commitLookMs = 500;

/** The way in which a thread gets its work. */
export interface ThreadManner {
  /** The number of batches that it commits at the same time. */
  readonly batchesInFlightMax: number;
  /** Whether commands take part in the transaction of a batch of deliveries; otherwise each has its own. */
  readonly commandsWithDeliveries: boolean;
}

/** Owns the thread, which commits each batch in one transaction. Deliveries that arrive while it is busy wait for the next. */
export class GroupCommit {
  readonly #worker: Worker;
  readonly #manner: ThreadManner;
  readonly #options: DeliveryLogOptions;
  readonly #ended: Promise<void>;
  readonly #statesSent = new Map<string, string>();
  #deliveries: WaitingDelivery[] = [];
  #commands: WaitingCommand[] = [];
  #separateCommands: WaitingCommand[] = [];
  readonly #inFlight = new Map<number, WaitingBatch>();
  #lastBatch = 0;
  #sendScheduled = false;
  #state: 'open' | 'closing' | 'ended' = 'open';
  #stats = { ...noStats };
  readonly #health = new CommitHealth();
  readonly #looking: NodeJS.Timeout;
  #lastWriteMs = performance.now();

  constructor(worker: Worker, manner: ThreadManner, options: DeliveryLogOptions) {
    this.#worker = worker;
    this.#manner = manner;
    this.#options = options;
    this.#looking = setInterval(() => this.#look(performance.now()), commitLookMs).unref();
    worker.on('message', (message: FromWorker) => this.#settle(message));
    let died = new Error("the delivery log's thread died");
    worker.once('error', (error: Error) => {
      died = error;
    });
    this.#ended = new Promise(resolve => {
      worker.once('exit', () => {
        this.#end(died);
        resolve();
      });
    });
  }

  recordAccepted(delivery: AcceptedDelivery): Promise<Recorded> {
    return new Promise((resolve, reject) => {
      if (this.#state !== 'open') return reject(closedError());
      if (this.#isFull(delivery.payload.length)) {
        this.#stats.refusedFull++;
        return reject(
          new DeliveryLogError('full', 'too many deliveries are waiting for their commit; try again'),
        );
      }
      this.#add({ kind: 'accepted', sinceMs: performance.now(), delivery, resolve, reject });
    });
  }

  recordUnidentified(delivery: UnidentifiedDelivery): boolean {
    if (this.#state !== 'open' || this.#isFull(0)) {
      this.#stats.droppedRejections++;
      return false;
    }
    this.#add({ kind: 'rejected', delivery });
    return true;
  }

  /** Executes the command: with the next batch of deliveries, or in a transaction of its own. */
  ask<V extends Verb>(verb: V, argument: Argument<V>): Promise<Result<V>> {
    const isSeparate = commandManners[verb].isSeparate || !this.#manner.commandsWithDeliveries;
    const queue = isSeparate ? this.#separateCommands : this.#commands;
    return new Promise((resolve, reject) => {
      if (this.#state !== 'open') return reject(closedError());
      // The worker answers each command with the result of its verb.
      queue.push({
        command: { verb, argument } as Command,
        resolve: resolve as WaitingCommand['resolve'],
        reject,
      });
      this.#scheduleSend();
    });
  }

  stats(): DeliveryLogStats {
    return { ...this.#stats };
  }

  describeTrouble(): string | undefined {
    return this.#health.describe(performance.now());
  }

  async close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing';
      if (!this.#sendScheduled) this.#send();
    }
    await this.#ended;
  }

  #isFull(bytes: number): boolean {
    const countMax = this.#options.deliveriesWaitingMax ?? deliveriesWaitingMax;
    const bytesMax = this.#options.deliveryBytesWaitingMax ?? deliveryBytesWaitingMax;
    return this.#stats.waiting >= countMax || this.#stats.waitingBytes + bytes > bytesMax;
  }

  #add(waiting: WaitingDelivery): void {
    this.#deliveries.push(waiting);
    this.#stats.waiting++;
    this.#stats.waitingBytes += countPayloadBytes(waiting);
    this.#scheduleSend();
  }

  /** Sends after the event loop's current turn, so that requests that arrived in it are committed together. */
  #scheduleSend(): void {
    if (this.#sendScheduled || !this.#hasRoom) return;
    this.#sendScheduled = true;
    setImmediate(() => {
      this.#sendScheduled = false;
      if (this.#state !== 'ended') this.#send();
    });
  }

  get #hasRoom(): boolean {
    return this.#inFlight.size < this.#manner.batchesInFlightMax;
  }

  #send(): void {
    while (this.#hasRoom) {
      const batch = this.#takeBatch();
      if (!batch) break;
      this.#sendBatch(batch);
    }
    if (this.#state === 'closing' && this.#inFlight.size === 0) this.#post({ kind: 'close' });
  }

  /** The success of a command with its own transaction does not show that deliveries can be committed. */
  #showsHealth({ commands }: WaitingBatch): boolean {
    return this.#manner.commandsWithDeliveries || commands.length === 0;
  }

  #sendBatch(batch: WaitingBatch): void {
    const id = ++this.#lastBatch;
    this.#inFlight.set(id, batch);
    if (this.#showsHealth(batch)) this.#health.begin(id, performance.now());
    const packed = packDeliveries(batch.deliveries, this.#statesSent);
    this.#post({ kind: 'batch', id, ...packed, commands: batch.commands.map(({ command }) => command) });
  }

  /** Refuses the deliveries that have waited too long, and tests the log if it had nothing to do. */
  #look(nowMs: number): void {
    const untilMs = nowMs - (this.#options.commitWaitMs ?? commitWaitMs);
    const isLate = (waiting: WaitingDelivery) => waiting.kind === 'accepted' && waiting.sinceMs < untilMs;
    // A commit in progress may still succeed. What has not been sent is taken back.
    for (const { deliveries } of this.#inFlight.values())
      rejectAll({ deliveries: deliveries.filter(isLate), commands: [] }, lateError());
    const late = this.#deliveries.filter(isLate);
    if (late.length > 0) {
      this.#deliveries = this.#deliveries.filter(waiting => !isLate(waiting));
      this.#removeWaiting(late);
      rejectAll({ deliveries: late, commands: [] }, lateError());
    }
    const isBusy = [...this.#inFlight.values()].some(batch => this.#showsHealth(batch));
    const isIdle = !isBusy && !this.#sendScheduled && this.#state === 'open';
    if (isIdle && nowMs - this.#lastWriteMs >= commitProbeMs)
      this.#sendBatch({ deliveries: [], commands: [] });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message, message.kind === 'batch' ? [message.payloads] : []);
  }

  #takeBatch(): WaitingBatch | undefined {
    const separate = this.#separateCommands.shift();
    if (separate) return { deliveries: [], commands: [separate] };
    if (this.#deliveries.length + this.#commands.length === 0) return undefined;
    const deliveries = this.#deliveries.splice(0, countForCommit(this.#deliveries));
    const commands = this.#commands;
    this.#commands = [];
    return { deliveries, commands };
  }

  #settle(message: FromWorker): void {
    if (message.kind === 'claimsLost') this.#options.onClaimsLost?.();
    if (message.kind !== 'committed' && message.kind !== 'failed') return;
    const batch = this.#inFlight.get(message.id);
    if (!batch) return;
    if (message.kind === 'failed' && fatalCodes.has(message.code)) {
      this.#fail(message);
      return;
    }
    this.#inFlight.delete(message.id);
    this.#count(batch, message);
    // Sends the next batch first, so that the thread works while promises are settled.
    this.#send();
    if (message.kind === 'failed') {
      rejectAll(batch, toError(message));
      return;
    }
    resolveAll(batch, message);
    if (batch.deliveries.length > 0) this.#options.onCommitted?.(() => makeCommittedRows(batch, message));
    if (message.runsQueued) this.#options.onRunsQueued?.();
  }

  #removeWaiting(deliveries: readonly WaitingDelivery[]): void {
    this.#stats.waiting -= deliveries.length;
    for (const delivery of deliveries) this.#stats.waitingBytes -= countPayloadBytes(delivery);
  }

  #count(batch: WaitingBatch, message: Committed | FailedBatch): void {
    const { deliveries, commands } = batch;
    this.#removeWaiting(deliveries);
    if (message.kind === 'failed') {
      if (this.#showsHealth(batch)) this.#health.fail(message.id, message.message, performance.now());
      this.#stats.failedCommits++;
      this.#stats.droppedRejections += deliveries.filter(({ kind }) => kind === 'rejected').length;
      return;
    }
    // Commands may have changed nothing, so only deliveries, and tests of the log, show that it can be written.
    const wrote = deliveries.length > 0 || commands.length === 0;
    this.#health.succeed(message.id, wrote);
    if (wrote) this.#lastWriteMs = performance.now();
    if (deliveries.length + commands.length === 0) return;
    this.#stats.committed += deliveries.length;
    this.#stats.commits++;
    this.#stats.lastCommitMs = message.commitMs;
    this.#stats.lastCommitDeliveries = deliveries.length;
  }

  /** Ends the thread: whatever it would commit now is lost. */
  #fail(message: Failed): void {
    this.#end(toError(message));
    void this.#worker.terminate();
  }

  #end(cause: Error): void {
    const wasOpen = this.#state === 'open';
    clearInterval(this.#looking);
    const batches = [
      ...this.#inFlight.values(),
      { deliveries: this.#deliveries, commands: [...this.#commands, ...this.#separateCommands] },
    ];
    this.#state = 'ended';
    this.#inFlight.clear();
    this.#deliveries = [];
    this.#commands = [];
    this.#separateCommands = [];
    for (const batch of batches) rejectAll(batch, new DeliveryLogError('closed', cause.message, { cause }));
    if (wasOpen) this.#options.onFatal?.(cause);
  }
}

const noStats: DeliveryLogStats = {
  waiting: 0,
  waitingBytes: 0,
  committed: 0,
  commits: 0,
  failedCommits: 0,
  refusedFull: 0,
  droppedRejections: 0,
  lastCommitMs: 0,
  lastCommitDeliveries: 0,
};

/** After these errors, the log must not be used any more. */
const fatalCodes: ReadonlySet<DeliveryLogErrorCode> = new Set(['damaged', 'replaced']);

function toError({ code, message, error: cause }: Failed): DeliveryLogError {
  return new DeliveryLogError(code, message, { cause });
}

function lateError(): DeliveryLogError {
  return new DeliveryLogError('late', 'the commit takes too long; it may still succeed');
}
