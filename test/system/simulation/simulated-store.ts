import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Pool } from 'pg';
import type { ThreadManner } from '../../../store/delivery-log/thread/group-commit.ts';
import {
  type Batch,
  type Command,
  type Committed,
  commandManners,
  type FailedBatch,
  type FromWorker,
  type ToWorker,
} from '../../../store/delivery-log/thread/wire.ts';
import { type RunToChange, selectToChange } from '../../../store/embedded/delivery-log/sql/run-changes.ts';
import { SqliteDatabase, type Statement } from '../../../store/home/sqlite.ts';
import type { ClaimedRuns, RunClaim } from '../../../store/ports/delivery-log.ts';
import type { Product } from './product.ts';
import type { Process, Scheduler } from './scheduler.ts';

/** What goes wrong with the next commits of a daemon. */
export interface CommitFault {
  /**
   * `fails`: nothing is written. `locked`: the transaction does not even begin. `unanswered`: it is written, but the answer is lost. `repeated`: the answer is lost, and
   * the thread sends it again, as the one of PostgreSQL does. `late`: it takes `ms`.
   */
  readonly kind: 'fails' | 'locked' | 'unanswered' | 'repeated' | 'late';
  readonly ms: number;
}

/** How a store is shared. One daemon has the embedded store for itself; replicas share PostgreSQL under leases. */
export type StoreKind = 'embedded' | 'postgres';

const manners: Readonly<Record<StoreKind, ThreadManner>> = {
  embedded: { batchesInFlightMax: 1, commandsWithDeliveries: true },
  postgres: { batchesInFlightMax: 2, commandsWithDeliveries: false },
};

/** Longest time that a message between a daemon, its thread and the database takes while nothing is wrong, in ms. */
const messageMsMax = 8;

/**
 * One database in memory for all simulations of a process: each begins with it empty. The statements are those of the
 * embedded store, and are prepared once.
 */
class SharedDatabase extends SqliteDatabase {
  readonly #statements = new Map<string, unknown>();
  /** Whether another process has locked it, so that no transaction begins. */
  isLocked = false;

  constructor({ migrate }: Product) {
    super(':memory:');
    migrate(this);
  }

  /** Forgets what was written since the last call. The transactions in between become savepoints. */
  clear(): void {
    if (this.inTransaction) this.exec('ROLLBACK');
    this.exec('BEGIN');
  }

  override transact<T>(work: () => T): T {
    if (!this.inTransaction) return super.transact(work);
    if (this.isLocked) throw Object.assign(new Error('database is locked'), { errcode: 5 });
    this.exec('SAVEPOINT work');
    try {
      const result = work();
      this.exec('RELEASE work');
      return result;
    } catch (error) {
      this.exec('ROLLBACK TO work; RELEASE work');
      throw error;
    }
  }

  override prepare<P, R>(sql: string) {
    return this.#remember(`rows: ${sql}`, () => super.prepare<P, R>(sql));
  }

  override prepareArrays<P, R>(sql: string) {
    return this.#remember(`arrays: ${sql}`, () => super.prepareArrays<P, R>(sql));
  }

  #remember<S>(key: string, prepare: () => S): S {
    const known = (this.#statements.get(key) as S | undefined) ?? prepare();
    this.#statements.set(key, known);
    return known;
  }
}

let shared: SharedDatabase | undefined;

/**
 * The store below the simulated daemons. It keeps everything in SQLite by the statements of the embedded store. What only
 * PostgreSQL has is added here: leases, and claims that first queue again the runs of replicas without one.
 */
export class SimulatedStore {
  readonly kind: StoreKind;
  readonly product: Product;
  readonly scheduler: Scheduler;
  readonly random: () => number;
  /** The longest time that a commit takes. */
  readonly commitMs: number;
  readonly shared: SharedDatabase;
  readonly database: SqliteDatabase;
  readonly reader: ReturnType<Product['prepareReader']>;
  /** The end of each lease, by the clock of the database. */
  readonly leases = new Map<string, number>();
  /** Called after each commit that was written, with the daemon that wrote it. */
  onWritten: (by: Process) => void = () => undefined;
  /** Called with what happens, for a person who looks for a defect. */
  tell: (by: Process, what: () => string) => void = () => undefined;

  constructor(given: Pick<SimulatedStore, 'kind' | 'commitMs' | 'product' | 'scheduler' | 'random'>) {
    const { kind, commitMs, product, scheduler, random } = given;
    this.kind = kind;
    this.commitMs = commitMs;
    this.product = product;
    this.scheduler = scheduler;
    this.random = random;
    shared ??= new SharedDatabase(product);
    shared.clear();
    this.shared = shared;
    this.database = shared;
    this.reader = product.prepareReader(this.database);
  }

  get manner(): ThreadManner {
    return manners[this.kind];
  }

  /** Whether a claim under this name still counts: its daemon is alive as far as the store knows. */
  isHeld(claimedBy: string): boolean {
    return this.kind === 'embedded' || (this.leases.get(claimedBy) ?? 0) > this.scheduler.nowMs;
  }

  transit(process: Process): Promise<void> {
    return this.scheduler.sleep(process, this.random() * messageMsMax);
  }

  /** Reads as the thread of a reader does. */
  async read<T>(process: Process, read: () => T): Promise<T> {
    await this.transit(process);
    return read();
  }
}

/** The thread of a delivery log: it speaks the messages of a real one, with the faults that it is given. */
export class SimulatedThread extends EventEmitter {
  readonly #store: SimulatedStore;
  readonly #process: Process;
  readonly #takeFault: () => CommitFault | undefined;
  readonly #commit: (batch: Batch) => Committed | FailedBatch;
  readonly #claims: LeasedClaims | undefined;
  readonly #inbox: ToWorker[] = [];
  readonly #outbox: FromWorker[] = [];
  readonly #texts = new Map<string, string>();
  #working: Promise<void> = Promise.resolve();

  constructor(store: SimulatedStore, process: Process, takeFault: () => CommitFault | undefined) {
    super();
    this.#store = store;
    this.#process = process;
    this.#takeFault = takeFault;
    this.#commit = store.product.prepareCommit(store.database, 'the simulated log', () => undefined);
    if (store.kind === 'postgres')
      this.#claims = new LeasedClaims(store, process, () => this.#reply({ kind: 'claimsLost' }));
  }

  /** As the port of a worker, for `GroupCommit`. */
  asWorker(): Worker {
    return this as unknown as Worker;
  }

  postMessage(message: ToWorker): void {
    this.#inbox.push(message);
    void this.#store.transit(this.#process).then(() => {
      const next = this.#inbox.shift();
      if (!next) return;
      const work = () => this.#receive(next);
      // SQLite has one writer. The thread of PostgreSQL goes on with several batches.
      if (this.#store.kind === 'embedded') this.#working = this.#working.then(work);
      else void this.#receive(this.#withTexts(next));
    });
  }

  /** The thread of PostgreSQL notes the texts of applied states on arrival: a later batch may be committed first. */
  #withTexts(message: ToWorker): ToWorker {
    if (message.kind !== 'batch') return message;
    const deliveries = message.deliveries.map(row => {
      const { digest = '', json = this.#texts.get(digest) } = row.appliedState ?? {};
      if (json === undefined) return row;
      this.#texts.set(digest, json);
      return { ...row, appliedState: { digest, json } };
    });
    return { ...message, deliveries };
  }

  async terminate(): Promise<number> {
    void this.#store.transit(this.#process).then(() => this.emit('exit', 0));
    return 0;
  }

  async #receive(message: ToWorker): Promise<void> {
    if (message.kind === 'close') {
      await this.#claims?.end();
      await this.terminate();
      return;
    }
    this.#reply(await this.#commitWithFault(message));
  }

  /** Messages arrive in their order. */
  #reply(message: FromWorker): void {
    this.#outbox.push(message);
    void this.#store.transit(this.#process).then(() => this.emit('message', this.#outbox.shift()));
  }

  async #commitWithFault(batch: Batch): Promise<Committed | FailedBatch> {
    const fault = this.#takeFault();
    if (fault) this.#store.tell(this.#process, () => `the next commit is to be: ${fault.kind}`);
    if (fault?.kind === 'fails') return this.#execute(failing(batch));
    if (fault?.kind === 'locked') return this.#executeLocked(batch);
    if (fault?.kind === 'late') await this.#store.scheduler.sleep(this.#process, fault.ms);
    if (fault?.kind !== 'unanswered' && fault?.kind !== 'repeated') return this.#execute(batch);
    const committed = await this.#execute(batch, { isAnswered: false });
    if (fault.kind === 'unanswered') return lostAnswer(batch);
    // Deliveries that are there already are left alone. A command finds what its first execution has changed.
    return batch.commands.length > 0 ? this.#execute(batch) : committed;
  }

  #executeLocked(batch: Batch): Committed | FailedBatch {
    const { shared } = this.#store;
    shared.isLocked = true;
    try {
      return this.#write(batch);
    } finally {
      shared.isLocked = false;
    }
  }

  async #execute(batch: Batch, { isAnswered } = { isAnswered: true }): Promise<Committed | FailedBatch> {
    const [command, ...rest] = batch.commands;
    const { scheduler, commitMs, random } = this.#store;
    await scheduler.sleep(this.#process, random() * commitMs);
    if (!this.#claims) return this.#write(batch);
    if (!command) return this.#write(batch);
    const write = (later: Command) => this.#write({ ...batch, commands: [later, ...rest] });
    return this.#claims.execute(command, write, isAnswered);
  }

  #write(batch: Batch): Committed | FailedBatch {
    const answer = this.#commit(batch);
    this.#store.tell(this.#process, () => {
      const { deliveries, commands } = batch;
      const named = commands.map(({ verb, argument }) => `${verb} ${JSON.stringify(argument)}`);
      return `${answer.kind}: ${[...deliveries.map(({ id }) => id), ...named].join(', ') || 'nothing'}`;
    });
    if (answer.kind === 'committed') this.#store.onWritten(this.#process);
    return answer;
  }
}

/** The batch with a command that nobody knows, which fails the transaction after everything else was written. */
function failing(batch: Batch): Batch {
  return { ...batch, commands: [...batch.commands, { verb: 'fail' } as unknown as Command] };
}

function lostAnswer({ id }: Batch): FailedBatch {
  return { kind: 'failed', id, code: 'failed', message: 'the connection was lost', error: undefined };
}

const changesNothing: Command = { verb: 'forgetEnds', argument: [] };

type Write = (command: Command) => Committed | FailedBatch;

/**
 * What a claim in PostgreSQL does besides: it holds a lease, queues again the runs of replicas whose lease has ended and
 * those of its own that it does not know, and takes nothing once its lease has ended.
 */
class LeasedClaims {
  readonly #store: SimulatedStore;
  readonly #process: Process;
  readonly #lease: InstanceType<Product['Lease']>;
  readonly #own: InstanceType<Product['OwnClaims']>;
  readonly #selectAbandoned: Statement<[{ claimedBy: string; own: string; alive: string }], RunToChange>;
  readonly #interrupting: ReturnType<Product['prepareInterrupt']>;
  readonly #releaseLanes: () => void;

  constructor(store: SimulatedStore, process: Process, onLost: () => void) {
    const { database, product } = store;
    this.#store = store;
    this.#process = process;
    this.#own = new product.OwnClaims();
    this.#lease = new product.Lease(new LeasePool(store, process) as unknown as Pool, onLost);
    this.#selectAbandoned = database.prepare(`${selectToChange}
      WHERE state = 'running' AND claimed_by IS NOT NULL
        AND (claimed_by = @claimedBy AND id NOT IN (SELECT value FROM json_each(@own))
          OR claimed_by NOT IN (SELECT value FROM json_each(@alive)))`);
    const lanes = product.prepareLanes(database);
    this.#interrupting = product.prepareInterrupt(database, product.prepareChangeRun(database, lanes));
    this.#releaseLanes = () => lanes.releaseAll();
  }

  end(): Promise<void> {
    return this.#lease.end();
  }

  /** Executes a command. Unless that is answered, the thread does not know what it has claimed or ended. */
  async execute(command: Command, write: Write, isAnswered: boolean): Promise<Committed | FailedBatch> {
    const { verb, argument } = command;
    if (verb === 'claimRuns') return this.#own.inOrder(() => this.#claim(argument, write, isAnswered));
    if (verb === 'requeueRunsOfOthers')
      return this.#own.inOrder(async () => {
        this.#interrupting.acquit();
        const requeued = this.#requeueAbandoned(await this.#lease.hold(argument));
        const answer = write(changesNothing);
        if (answer.kind === 'failed') return answer;
        return { ...answer, results: [requeued], runsQueued: commandManners[verb].queuesRuns === true };
      });
    const answer = write(command);
    if (isAnswered && (verb === 'finishRun' || verb === 'postponeRun' || verb === 'awaitReport'))
      this.#own.end(argument);
    return answer;
  }

  async #claim(claim: RunClaim, write: Write, isAnswered: boolean): Promise<Committed | FailedBatch> {
    const daemonId = await this.#lease.hold(claim.daemonId);
    this.#requeueAbandoned(daemonId);
    // A claim finds nothing once its lease has ended.
    const isHeld = this.#store.isHeld(daemonId);
    const answer = write(isHeld ? { verb: 'claimRuns', argument: { ...claim, daemonId } } : changesNothing);
    if (answer.kind !== 'committed') return answer;
    const { runs } = isHeld ? (answer.results[0] as ClaimedRuns) : { runs: [] };
    if (isAnswered) this.#own.add(runs, daemonId);
    return isHeld ? answer : { ...answer, results: [{ runs }] };
  }

  /** Returns how many runs it queued again. */
  #requeueAbandoned(claimedBy: string): number {
    const own = this.#own.list(claimedBy);
    const alive = [...this.#store.leases.keys()].filter(name => this.#store.isHeld(name));
    const given = { claimedBy, own: JSON.stringify(own), alive: JSON.stringify(alive) };
    const abandoned = this.#selectAbandoned.all(given);
    this.#interrupting.interrupt(abandoned);
    if (abandoned.length > 0) {
      this.#releaseLanes();
      this.#store.onWritten(this.#process);
    }
    return abandoned.length;
  }
}

/** Answers the statements of `Lease` by the leases of the simulated store. */
class LeasePool {
  readonly #store: SimulatedStore;
  readonly #process: Process;

  constructor(store: SimulatedStore, process: Process) {
    this.#store = store;
    this.#process = process;
  }

  async query(text: string, [id, leaseMs]: [string, number] = ['', 0]): Promise<{ rowCount: number }> {
    const { leases, scheduler } = this.#store;
    await this.#store.transit(this.#process);
    const isHeld = this.#store.isHeld(id);
    if (/^\s*UPDATE/.test(text) ? isHeld : /^\s*INSERT/.test(text)) leases.set(id, scheduler.nowMs + leaseMs);
    if (text.includes('WHERE id = $1') && text.startsWith('DELETE')) leases.delete(id);
    await this.#store.transit(this.#process);
    return { rowCount: isHeld ? 1 : 0 };
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}
