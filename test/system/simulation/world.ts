import type { Logger } from 'pino';
import type { AlertsTask } from '../../../daemon/alerts/start-alerts.ts';
import { maskSecrets } from '../../../daemon/runs/masking.ts';
import type { ReceiverReports } from '../../../daemon/runs/receiver-reports.ts';
import type { RunQueue } from '../../../daemon/runs/run-queue.ts';
import type { RunRecordDeps } from '../../../daemon/runs/run-record.ts';
import type { AfterwardsSettings } from '../../../daemon/runs/run-settings.ts';
import type { Program } from '../../../daemon/runs/runners/program.ts';
import type { AttemptResult, OpenRunner } from '../../../daemon/runs/runners/runner.ts';
import { dayMs } from '../../../schema/time-units.ts';
import { type AlertState, type Alerts, noAlerts } from '../../../store/ports/alerts.ts';
import type {
  AppliedStateRef,
  ClaimedRuns,
  DeliveryLog,
  DeliveryLogReader,
  Run,
  RunFlow,
} from '../../../store/ports/delivery-log.ts';
import { createRandom } from '../../support/random.ts';
import { attemptsMax, commandRunners, Model, runnerPlaces, type SentEvent, Violation } from './model.ts';
import type { Product } from './product.ts';
import { createProcess, type Process, Scheduler } from './scheduler.ts';
import { type CommitFault, SimulatedStore, SimulatedThread, type StoreKind } from './simulated-store.ts';

/** How an attempt ends. `reports…`: the receiver goes on, and reports the end later, twice at once, or never. */
export type Result =
  | 'succeeded'
  | 'failed'
  | 'retry'
  | 'unattempted'
  | 'reports'
  | 'reports twice'
  | 'reports failure'
  | 'is silent';

export type Automation = keyof typeof flows;

/** What the receiver of alerts answers. `lost`: it has the message, and the sender no answer. */
export type ReceiverAnswer = 500 | 'refused' | 'lost';

/** Something that happens at a time, in ms since the start. Daemons, events and the runs of events have numbers. */
export type PlannedEvent = { readonly atMs: number } & (
  | {
      readonly kind: 'deliver';
      readonly event: number;
      readonly automation: Automation;
      readonly results: readonly Result[];
      readonly attemptMs: number;
    }
  | { readonly kind: 'cancel' | 'retry' | 'dismiss' | 'approve'; readonly event: number }
  | { readonly kind: 'pause'; readonly automation: Automation; readonly ms: number | undefined }
  | { readonly kind: 'resume'; readonly automation: Automation }
  | { readonly kind: 'prune'; readonly olderThanMs: number }
  | {
      readonly kind: 'commit';
      readonly daemon: number;
      readonly fault: CommitFault;
      readonly commits: number;
    }
  | { readonly kind: 'kill'; readonly daemon: number; readonly steps: number; readonly downMs: number }
  | { readonly kind: 'hold'; readonly daemon: number; readonly ms: number }
  | { readonly kind: 'clock'; readonly daemon: number; readonly ms: number }
  | { readonly kind: 'endLease' | 'restart' | 'fillDisk'; readonly daemon: number }
  | { readonly kind: 'receiverFails'; readonly answers: readonly ReceiverAnswer[] }
  | {
      readonly kind: 'cancelsFail' | 'keepingFails' | 'leavesOut';
      readonly daemon: number;
      readonly times: number;
    }
);

/** A simulation: what happens, and the seed of everything that is left to chance. */
export interface Plan {
  readonly seed: number;
  readonly store: StoreKind;
  /** The longest time that a commit takes while nothing is wrong: on a slow disk, more is committed together. */
  readonly commitMs: number;
  readonly daemons: number;
  /** What one of several daemons suffers from to the end. The others must do everything. */
  readonly staysBroken: 'disk' | 'cancels' | 'nothing';
  readonly events: readonly PlannedEvent[];
}

const startMs = 1_750_000_000_000;
/** Time after the end of all faults within which everything is done: some waits for retries, and for silent receivers. */
const settledMs = 120_000;
/** The same while a daemon stays broken: it claims some runs again and again, with longer waits. */
const settledBesideMs = 900_000;
/** Time within which a daemon stops. */
const stoppedMs = 10_000;
/** Time within which a sender gets an answer (503 after 5 s), with the look for it. */
const answeredMs = 6_500;
/** Time after which trouble of a daemon has no consequences any more: it looks again after 2 s. */
const recoveredMs = 2_500;
/** Time that a silent receiver has. */
const reportWithinMs = 3_000;

/** Time in which somebody must approve what waits for that. */
const approveWithinMs = 6_000;

/** The rules of each automation's runs. */
const flows = {
  free: undefined,
  second: { runner: 'second', notify: ['failed'] },
  limited: { limit: { lane: 'limited', runs: 1 } },
  ordered: { order: { lane: 'ordered', hold: false }, limit: { lane: 'ordered limit', runs: 2 } },
  held: { order: { lane: 'held', hold: true } },
  acts: { runner: 'acts', notify: ['succeeded', 'failed'] },
  asks: { runner: 'asks' },
  burst: { burst: { lane: 'burst', forMs: 300, atMostMs: 1_000 } },
} as const satisfies Record<string, RunFlow | undefined>;

const factory = 'default';

const alertReceiver = { format: undefined, url: 'http://127.0.0.1/alerts', secret: 'ALERTS' } as const;
const alertSecret = `whsec_${Buffer.alloc(24).toString('base64')}`;

/** Time between two applies, in ms: the text of each applied state is sent to the threads once. */
const applyMs = 7_000;

function appliedStateAt(nowMs: number): AppliedStateRef {
  const digest = `state ${Math.floor(nowMs / applyMs)}`;
  const automations = Object.keys(flows).map(name => ({ name, prompt: 'Work.\n' }));
  return { digest, json: JSON.stringify({ digest, automations }) };
}

interface SimulatedEvent extends SentEvent {
  readonly automation: Automation;
  readonly results: readonly Result[];
  readonly attemptMs: number;
}

/**
 * Simulates a plan, and returns the number of its steps. Throws a Violation if a rule is broken. `tell` gets a line for
 * everything that happens.
 */
export async function simulate(plan: Plan, product: Product, tell?: (line: string) => void): Promise<number> {
  const world = new World(plan, product);
  if (tell) world.tellAll(tell);
  const restore = world.scheduler.install();
  try {
    await world.live();
    return world.scheduler.steps;
  } finally {
    restore();
  }
}

class World {
  readonly scheduler: Scheduler;
  readonly store: SimulatedStore;
  readonly model: Model;
  readonly random: () => number;
  readonly #plan: Plan;
  readonly #events = new Map<number, SimulatedEvent>();
  readonly #eventOfRun = new Map<string, SimulatedEvent>();
  readonly #results = new Map<string, Result[]>();
  /** The claims whose commands left artifacts: in the directory of a run, under its attempts, and for its second command. */
  readonly artifacts = {
    left: new Map<string, number>(),
    kept: new Map<string, number>(),
    prepared: new Map<string, number>(),
  };
  readonly #daemons: SimulatedDaemon[];
  readonly #outside = createProcess('outside');
  /** The state of alerts, which all daemons share. */
  alerts: AlertState = noAlerts;
  /** By their names: who does the work that daemons do by turns, and when it ended. */
  readonly turns = new Map<string, { by: Process | undefined; endedMs: number }>();
  readonly #receiverAnswers: ReceiverAnswer[] = [];
  #lastId = 0;
  /** What broke while the product called the world. */
  broken: unknown;

  constructor(plan: Plan, product: Product) {
    this.#plan = plan;
    this.random = createRandom(plan.seed);
    this.scheduler = new Scheduler(createRandom(plan.seed + 1));
    const { scheduler, random } = this;
    this.store = new SimulatedStore({
      kind: plan.store,
      commitMs: plan.commitMs,
      product,
      scheduler,
      random,
    });
    this.model = new Model(this.store.database, plan.commitMs, claimedBy => this.store.isHeld(claimedBy));
    const { describeReceiver, setReceivers } = product;
    this.alerts = setReceivers(noAlerts, [describeReceiver(alertReceiver)], 0);
    this.scheduler.fetch = (by, { headers, signal }) =>
      this.#receive(by, `${(headers as Record<string, unknown>)['webhook-id']}`, signal);
    this.store.onWritten = ({ name }) =>
      this.check(() => this.model.readCommitted(name, this.scheduler.nowMs));
    const count = plan.store === 'embedded' ? 1 : plan.daemons;
    this.#daemons = Array.from({ length: count }, (_, index) => new SimulatedDaemon(`daemon ${index}`, this));
  }

  tellAll(tell: (line: string) => void): void {
    this.store.tell = ({ name }, what) => tell(`${Math.round(this.scheduler.nowMs)} ms, ${name}: ${what()}`);
  }

  async live(): Promise<void> {
    for (const daemon of this.#daemons) daemon.start();
    for (const event of [...this.#plan.events].sort((a, b) => a.atMs - b.atMs)) {
      await this.#goOn(event.atMs);
      this.store.tell(this.#outside, () => JSON.stringify(event));
      this.#apply(event);
    }
    const { staysBroken } = this.#plan;
    const isBroken = staysBroken !== 'nothing' && this.#daemons.length > 1;
    for (const [index, daemon] of this.#daemons.entries())
      daemon.repair(isBroken && index === 0 ? staysBroken : 'nothing');
    for (const automation of Object.keys(flows)) this.#resume(automation);
    this.#receiverAnswers.length = 0;
    const untilMs = this.scheduler.nowMs + (isBroken ? settledBesideMs : settledMs);
    for (let left: readonly string[] = ['all']; left.length > 0; left = this.#listUnfinished()) {
      if (this.scheduler.nowMs > untilMs) throw new Violation(`never done: ${left.join(', ')}`);
      for (const id of this.model.listHolding()) this.#ask(log => log.dismissRun(id));
      for (const automation of this.model.listPaused()) this.#resume(automation);
      await this.#goOn(this.scheduler.nowMs + 1_000);
    }
    this.model.checkEnd(run => this.#results.get(run) ?? []);
    await this.#stopAll();
  }

  #listUnfinished(): string[] {
    const down = this.#daemons.filter(({ isRunning }) => !isRunning).map(({ name }) => `${name} is down`);
    return [...down, ...this.model.listUnfinished()];
  }

  async #stopAll(): Promise<void> {
    const untilMs = this.scheduler.nowMs + stoppedMs;
    for (const daemon of this.#daemons) daemon.stop();
    while (this.#daemons.some(daemon => !daemon.isStopped)) {
      if (this.scheduler.nowMs > untilMs) throw new Violation('a daemon does not stop');
      await this.#goOn(this.scheduler.nowMs + 100);
    }
  }

  /** Remembers what the model says, because the product may catch what is thrown into it. */
  check(rule: () => void): void {
    try {
      rule();
    } catch (error) {
      this.broken ??= error;
    }
  }

  newId(kind: string): string {
    return `${kind}_${++this.#lastId}`;
  }

  eventOf(run: string): SimulatedEvent | undefined {
    return this.#eventOfRun.get(run);
  }

  noteResult(run: string, result: Result): void {
    this.#results.set(run, [...(this.#results.get(run) ?? []), result]);
  }

  later(ms: number, run: () => void): void {
    this.scheduler.add(this.#outside, ms, run);
  }

  pickDaemon(): SimulatedDaemon | undefined {
    const running = this.#daemons.filter(({ isRunning }) => isRunning);
    return running[Math.floor(this.random() * running.length)];
  }

  async #goOn(untilMs: number): Promise<void> {
    while (await this.scheduler.step(untilMs)) {
      for (const daemon of this.#daemons) daemon.notice();
      this.check(() => this.model.checkWaits(this.#daemons, this.scheduler.nowMs));
      if (this.broken) throw this.broken;
    }
  }

  #apply(event: PlannedEvent): void {
    if (event.kind === 'deliver') this.#send(this.#learn(event));
    else if ('daemon' in event) this.#daemons[event.daemon % this.#daemons.length]?.suffer(event);
    else if (event.kind === 'pause') this.#pause(event);
    else if (event.kind === 'resume') this.#resume(event.automation);
    else if (event.kind === 'prune') this.#prune(event.olderThanMs);
    else if (event.kind === 'receiverFails') this.#receiverAnswers.push(...event.answers);
    else this.#steer(event.kind, this.#runOf(event.event));
  }

  /** The receiver of alerts gets a message. */
  async #receive(by: Process, id: string, signal: AbortSignal | undefined): Promise<unknown> {
    const fail = (code: string) =>
      Promise.reject(Object.assign(new TypeError('failed'), { cause: { code } }));
    const answer = this.#receiverAnswers.shift();
    await this.scheduler.sleep(by, this.random() * 400);
    if (signal?.aborted || answer === 'refused') return fail('ECONNREFUSED');
    if (answer !== 500) this.check(() => this.model.told(id));
    if (answer === 'lost') return fail('ECONNRESET');
    return new Response(null, { status: answer ?? 204 });
  }

  #pause({ automation, ms }: PlannedEvent & { kind: 'pause' }): void {
    this.#ask((log, { nowMs }) => {
      const until = ms !== undefined && { untilMs: nowMs() + ms };
      return log.pauseAutomation({ factory, automation, by: 'operator', atMs: nowMs(), ...until });
    });
  }

  #resume(automation: string): void {
    this.#ask((log, { nowMs }) => log.resumeAutomation({ factory, automation, nowMs: nowMs() }));
  }

  #prune(olderThanMs: number): void {
    this.#ask((log, { nowMs }) => {
      const keepSinceMs = nowMs() - olderThanMs;
      this.model.pruneAsked(keepSinceMs);
      return log.prune({ keepNewest: 0, keepSinceMs });
    });
  }

  /** An operator changes a run, if there is one. */
  #steer(what: 'cancel' | 'retry' | 'dismiss' | 'approve', id: string | undefined): void {
    if (id === undefined) return;
    if (what === 'retry') this.model.retryAsked(id);
    if (what === 'approve') this.model.approvalAsked(id);
    this.#ask(async (log, { nowMs }) => {
      if (what === 'retry') await log.retryRun({ id, nowMs: nowMs() });
      if (what === 'dismiss') await log.dismissRun(id);
      if (what === 'approve') await log.approveRun({ id, approval: { by: 'operator', atMs: nowMs() } });
      if (what !== 'cancel') return;
      const taken = await log.cancelRun({ id, cancel: { by: 'operator', atMs: nowMs() } });
      this.model.cancelTaken(id, taken, this.scheduler.nowMs);
    });
  }

  /** The run of an event, if one was recorded. */
  #runOf(event: number): string | undefined {
    return this.#events
      .get(event)
      ?.tries.map(({ run }) => run)
      .find(run => this.model.rows.has(run));
  }

  /** An operator asks some daemon for something, once. */
  #ask(what: (log: DeliveryLog, daemon: SimulatedDaemon) => Promise<unknown>): void {
    const daemon = this.pickDaemon();
    daemon?.do(parts => what(parts.log, daemon).catch(() => undefined));
  }

  #learn({ event, automation, results, attemptMs }: PlannedEvent & { kind: 'deliver' }): SimulatedEvent {
    const flow = flows[automation];
    const known = this.#events.get(event) ?? {
      identity: `event ${event}`,
      flow,
      tries: [],
      automation,
      results,
      attemptMs,
    };
    this.#events.set(event, known);
    return known;
  }

  /** A sender delivers, and tries again until a daemon has accepted it. */
  #send(event: SimulatedEvent): void {
    const again = () => this.later(500 + this.random() * 1_000, () => this.#send(event));
    const daemon = this.pickDaemon();
    if (daemon) this.#sendTo(daemon, event, again);
    else again();
  }

  #sendTo(daemon: SimulatedDaemon, event: SimulatedEvent, again: () => void): void {
    const { identity, automation, flow } = event;
    const [id, run] = [this.newId('dlv'), this.newId('run')];
    const tried: SentEvent['tries'][number] = { delivery: id, run };
    event.tries.push(tried);
    this.#eventOfRun.set(run, event);
    this.model.sent(event, run);
    daemon.do(async ({ log }) => {
      const forget = daemon.expectAnswer(id);
      const sentMs = this.scheduler.nowMs;
      const sender = {
        factory,
        webhook: 'pay',
        uid: 'pay',
        identity,
        identitySource: 'body',
      } as const;
      const received = { atMs: daemon.nowMs(), size: 2, payload: Buffer.from('{}'), headers: {} };
      const runs = [{ id: run, automation, ...(flow && { flow }) }];
      try {
        const appliedState = appliedStateAt(sentMs);
        const { duplicateOf } = await log.recordAccepted({ id, ...sender, ...received, appliedState, runs });
        tried.answer = duplicateOf === undefined ? 'accepted' : 'duplicate';
      } catch {
        tried.answer = 'refused';
        this.check(() => this.#requireTrouble(daemon, id, sentMs));
        again();
      }
      forget();
    }, again);
  }

  /** A daemon refuses a delivery only if something is wrong. */
  #requireTrouble(
    { name, healthySinceMs = Infinity }: SimulatedDaemon,
    delivery: string,
    sentMs: number,
  ): void {
    if (healthySinceMs <= sentMs)
      throw new Violation(`${name} refused ${delivery}, though nothing was wrong`);
  }

  /** A receiver reports the end of an attempt, and again if it is not told that this was recorded. */
  report(run: Pick<Run, 'id' | 'claims'>, state: 'succeeded' | 'failed', tries = 10): void {
    const again = () => this.later(500, () => tries > 0 && this.report(run, state, tries - 1));
    this.noteResult(run.id, state === 'succeeded' ? 'succeeded' : 'retry');
    const daemon = this.pickDaemon();
    if (!daemon) again();
    daemon?.do(async ({ reports }) => {
      const taken = await reports.take(run, { state }).catch(() => undefined);
      if (taken === undefined) again();
      if (taken === 'recorded') this.check(() => this.model.reportTaken(run.id, run.claims, state));
    }, again);
  }
}

/** Turns that an answer may take more. */
const turnsMax = 8;
/** The part of the answers that wait for the answer to a claim, and how long, in ms. */
const togetherPart = 0.7;
const claimWaitMs = 30;

interface Parts {
  readonly log: DeliveryLog;
  readonly queue: RunQueue;
  readonly reports: ReceiverReports;
  readonly alerts: AlertsTask;
}

const ignore = () => undefined;
const silent = { error: ignore, warn: ignore, info: ignore } as unknown as Logger;

/** A daemon of the product on the simulated store: its delivery log, its run queue and the reports of its receivers. */
class SimulatedDaemon {
  readonly name: string;
  readonly #world: World;
  #process: Process;
  #parts: Parts | undefined;
  readonly #faults: CommitFault[] = [];
  /** How often hookmill itself still fails to do something: to end a cancelled run, to keep artifacts, or all of them. */
  readonly #toFail = { cancelsFail: 0, keepingFails: 0, leavesOut: 0 };
  #isDiskFull = false;
  /** Requests that wait for an answer, with the time since when. */
  readonly #waiting = new Map<string, number>();
  /** Called when it dies. */
  readonly #onDeath = new Set<() => void>();
  #clockAheadMs = 0;
  #troubledUntilMs = 0;
  #downMs = 1_000;
  #isDown = false;
  #id = '';
  isStopped = false;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
    this.#process = createProcess(name);
  }

  readonly nowMs = (): number => startMs + Math.round(this.#world.scheduler.nowMs) + this.#clockAheadMs;

  get isRunning(): boolean {
    return this.#parts !== undefined && !this.#process.isDead;
  }

  get healthySinceMs(): number | undefined {
    const isSound = this.isRunning && this.#faults.length === 0 && !this.#isDiskFull;
    return isSound && this.#toFail.cancelsFail === 0 ? this.#troubledUntilMs : undefined;
  }

  start(): void {
    this.#process = createProcess(this.name);
    this.#isDown = false;
    this.#troubled(0);
    this.#world.scheduler.add(this.#process, 0, () => void this.#boot());
  }

  /** Does something in a step of the daemon. `onDeath` is called if the daemon dies before that is done. */
  do(work: (parts: Parts) => Promise<unknown>, onDeath?: () => void): void {
    const parts = this.#parts;
    if (!parts) return;
    if (onDeath) this.#onDeath.add(onDeath);
    this.#world.scheduler.add(this.#process, this.#world.random() * 5, () => {
      void work(parts).finally(() => onDeath && this.#onDeath.delete(onDeath));
    });
  }

  /** Notes that somebody waits for an answer. Returns a function that forgets it. */
  expectAnswer(id: string): () => void {
    this.#waiting.set(id, this.#world.scheduler.nowMs);
    return () => this.#waiting.delete(id);
  }

  /** Looks after each step whether it was killed, or owes an answer. */
  notice(): void {
    const { scheduler, model } = this.#world;
    for (const [id, sinceMs] of this.#waiting) {
      const waitedMs = scheduler.nowMs - Math.max(sinceMs, this.#process.heldUntilMs);
      if (!this.#process.isDead && waitedMs > answeredMs)
        this.#world.check(() => {
          throw new Violation(`the sender of ${id} has waited ${Math.round(waitedMs)} ms for an answer`);
        });
    }
    if (!this.#process.isDead || this.#isDown) return;
    this.#isDown = true;
    this.#world.store.tell(this.#process, () => 'is dead');
    this.#parts = undefined;
    model.died(this.name);
    this.#waiting.clear();
    const tell = [...this.#onDeath];
    this.#onDeath.clear();
    for (const one of tell) one();
    this.#world.later(this.#downMs, () => this.start());
  }

  suffer(event: PlannedEvent & { daemon: number }): void {
    const { scheduler, store } = this.#world;
    switch (event.kind) {
      case 'commit': {
        // SQLite knows whether it has written. Only the end of the process hides that.
        const { kind, ms } = event.fault;
        const isUnknown = kind === 'unanswered' || kind === 'repeated';
        const fault = { ms, kind: store.kind === 'embedded' && isUnknown ? 'fails' : kind };
        this.#faults.push(...Array.from({ length: event.commits }, () => fault));
        break;
      }
      case 'kill':
        this.#process.stepsLeft = event.steps;
        this.#downMs = event.downMs;
        break;
      case 'hold':
        this.#process.heldUntilMs = scheduler.nowMs + event.ms;
        this.#troubled(event.ms);
        break;
      case 'clock':
        this.#clockAheadMs += event.ms;
        this.#troubled(0);
        break;
      case 'endLease':
        for (const name of store.leases.keys())
          if (name.split('.')[0] === this.#id) store.leases.delete(name);
        this.#troubled(0);
        break;
      case 'cancelsFail':
      case 'keepingFails':
      case 'leavesOut':
        this.#toFail[event.kind] += event.times;
        break;
      case 'fillDisk':
        this.#isDiskFull = true;
        break;
      case 'restart':
        this.#restart();
    }
  }

  /** Ends all faults but one, if one is to stay. */
  repair(staysBroken: Plan['staysBroken']): void {
    this.#faults.length = 0;
    this.#isDiskFull = staysBroken === 'disk';
    const cancelsFail = staysBroken === 'cancels' ? Infinity : 0;
    Object.assign(this.#toFail, { cancelsFail, keepingFails: 0, leavesOut: 0 });
    this.#process.heldUntilMs = Math.min(this.#process.heldUntilMs, this.#world.scheduler.nowMs);
    if (this.#process.stepsLeft > 0) this.#process.stepsLeft = 0;
    this.#clockAheadMs = 0;
    this.#troubled(0);
  }

  stop(): void {
    this.#troubled(stoppedMs);
    this.do(async parts => {
      await close(parts);
      this.isStopped = true;
    });
  }

  #restart(): void {
    const process = this.#process;
    this.#downMs = 1_000;
    this.#troubled(stoppedMs);
    this.do(async parts => {
      await close(parts).catch(() => undefined);
      process.stepsLeft = 1;
    });
  }

  #troubled(ms: number): void {
    this.#troubledUntilMs = Math.max(this.#troubledUntilMs, this.#world.scheduler.nowMs + ms + recoveredMs);
  }

  #takeFault(): CommitFault | undefined {
    // The database of replicas is on another disk.
    const isFull = this.#isDiskFull && this.#world.store.kind === 'embedded';
    const fault = isFull ? ({ kind: 'fails', ms: 0 } as const) : this.#faults.shift();
    if (fault) this.#troubled(fault.kind === 'late' ? fault.ms : 0);
    return fault;
  }

  async #boot(): Promise<void> {
    const { store, random, scheduler } = this.#world;
    const { product } = store;
    const process = this.#process;
    this.#id = this.#world.newId('daemon');
    let queue: RunQueue | undefined;
    const thread = new SimulatedThread(store, process, () => this.#takeFault());
    const commits = new product.GroupCommit(thread.asWorker(), store.manner, {
      onRunsQueued: () => queue?.wake(),
      onClaimsLost: () => {
        this.#troubled(0);
        queue?.abandon();
      },
    });
    const log = this.#watch(product.toDeliveryLog(commits));
    try {
      const common = { deliveryLog: log, log: silent, nowMs: this.nowMs };
      const runFiles = this.#runFiles() as never;
      const runners = this.#runners(log, runFiles);
      queue = await product.startRunQueue({
        ...{ ...common, store: { runFiles }, runners, findGone: async () => [] },
        ...{ daemonId: this.#id, monotonicMs: () => scheduler.nowMs, random },
        observe: (run, state) => this.#world.check(() => this.#world.model.observed(run, state)),
      });
      const reader: Pick<DeliveryLogReader, 'findRun' | 'listOverdueRuns'> = {
        findRun: id => store.read(process, () => store.reader.findRun(id)),
        listOverdueRuns: part => store.read(process, () => store.reader.listOverdueRuns(part)),
      };
      const settle: RunQueue['settle'] = (run, result) => (queue as RunQueue).settle(run, result);
      const reports = new product.ReceiverReports({
        ...{ ...common, reader, runFiles, settle },
        openMasking: async () => undefined,
      });
      const alerts = product.startAlerts({ ...common, ...this.#alertDeps(), random } as never);
      this.#parts = { log, queue, reports, alerts };
      this.#troubled(0);
    } catch {
      // It ends, and its service manager starts it again.
      this.#parts = { log } as Parts;
      process.stepsLeft = 1;
    }
  }

  /**
   * Lets each answer take some turns more or fewer, as another version would, and lets results of attempts often be answered
   * together with a claim, where races are. Tells the model of claims.
   */
  #watch(log: DeliveryLog): DeliveryLog {
    const { model, random, scheduler } = this.#world;
    const note = (verb: string, given: never, answer: never) => {
      if (verb === 'claimRuns')
        for (const run of (answer as ClaimedRuns).runs) model.claimed(this.name, run, run.runner);
      if (verb === 'finishRun' || verb === 'postponeRun' || verb === 'awaitReport')
        model.released(this.name, given, scheduler.nowMs);
    };
    const process = this.#process;
    const withClaim: (() => void)[] = [];
    /** Waits for the answer to a claim, if one comes soon. */
    const waitForClaim = () =>
      new Promise<void>(resolve => {
        withClaim.push(resolve);
        scheduler.add(process, claimWaitMs, resolve);
      });
    const watched = (verb: string, method: (...given: never[]) => unknown) => async (given: never) => {
      const turns = Math.floor(random() * turnsMax);
      const isTogether = (verb === 'finishRun' || verb === 'postponeRun') && random() < togetherPart;
      const answer = await method(given);
      if (isTogether) await waitForClaim();
      if (verb === 'claimRuns') for (const resolve of withClaim.splice(0)) resolve();
      note(verb, given, answer as never);
      for (let turn = 0; turn < turns; turn++) await undefined;
      return answer;
    };
    const isAsked = (verb: string) =>
      verb !== 'stats' && verb !== 'describeTrouble' && verb !== 'recordUnidentified';
    const entries = Object.entries(log).map(([verb, method]) => [
      verb,
      isAsked(verb) ? watched(verb, method) : method,
    ]);
    return Object.fromEntries(entries) as DeliveryLog;
  }

  #runners(deliveryLog: DeliveryLog, runFiles: never) {
    const { createCommandRunner, createAfterwards } = this.#world.store.product;
    const offered = new Map<string, OpenRunner>();
    for (const [name, concurrency] of Object.entries(runnerPlaces)) {
      const second = {
        ...{ argv: ['second'], environment: [], outputBytes: 0, timeLimitSeconds: 60 },
        approval: name === 'asks' ? 'required' : 'none',
        approvalDays: approveWithinMs / dayMs,
      } as AfterwardsSettings;
      const first = { ...second, kind: 'command', keep: true, afterwards: second } as never;
      const deps = { runFiles, deliveryLog, nowMs: this.nowMs } as never;
      const isCommand = commandRunners.has(name);
      offered.set(name, {
        ...{ concurrency, attempts: attemptsMax, backOff: { firstSeconds: 1, maxSeconds: 4 }, keep: true },
        execute: isCommand
          ? createCommandRunner(first, deps, this.#openProgram(false, deps))
          : ({ run }, signal) => this.#execute(run, signal),
        actAfterwards: isCommand ? createAfterwards(second, deps, this.#openProgram(true, deps)) : undefined,
        tellCancelled: async () => this.#endCancelled(),
      });
    }
    return { offered, find: ({ runner }: Pick<Run, 'runner'>) => offered.get(runner) as OpenRunner };
  }

  /** Stands for a command of an operator. Each first one leaves an artifact, whatever becomes of it. */
  #openProgram(isSecond: boolean, deps: RunRecordDeps): Program {
    const { model, artifacts, store } = this.#world;
    const execute: Program['execute'] = async ({ run }, _, __, signal, finish) => {
      const leftBy = artifacts.prepared.get(run.id);
      if (isSecond) this.#world.check(() => model.acts(run.id, run.automation, leftBy));
      const ended = await this.#execute(run, signal);
      if (!isSecond) artifacts.left.set(run.id, run.claims);
      if (!isSecond && ended.kind === 'succeeded') model.proposed(run);
      if (isSecond && ended.kind === 'succeeded') model.hasActed(run.id);
      return finish(ended, new store.product.RunRecord(run, maskSecrets([]), deps));
    };
    return {
      openSecrets: async () => new Map(),
      execute: (...given) => execute(...given).catch(store.product.toUnattempted),
    };
  }

  /** The files of runs, of which only artifacts are kept: by whose attempt they were left. */
  #runFiles() {
    const { artifacts } = this.#world;
    const key = ({ id, claims }: Pick<Run, 'id' | 'claims'>) => `${id}/${claims}`;
    const requireSpace = () => {
      if (this.#isDiskFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    const listKept = (id: string) => [...artifacts.kept.keys()].filter(kept => kept.startsWith(`${id}/`));
    return {
      discard: async () => undefined,
      prepare: async () => {
        requireSpace();
        return '/run';
      },
      appendOutput: () => ({
        ...{ write: async () => undefined, isFull: () => false },
        close: async () => requireSpace(),
      }),
      beginArtifacts: async (attempt: Run) => {
        requireSpace();
        for (const kept of listKept(attempt.id)) if (kept !== key(attempt)) artifacts.kept.delete(kept);
      },
      keepArtifacts: async (attempt: Run, { from }: { from?: string | undefined }) => {
        requireSpace();
        if (this.#fails('keepingFails')) throw Object.assign(new Error('too slow'), { code: 'EIO' });
        if (from === undefined && this.#fails('leavesOut')) {
          this.#world.noteResult(attempt.id, 'retry');
          return false;
        }
        const leftBy =
          from === undefined ? artifacts.left.get(attempt.id) : artifacts.prepared.get(attempt.id);
        if (leftBy !== undefined) artifacts.kept.set(key(attempt), leftBy);
        return true;
      },
      listArtifacts: async (id: string) => listKept(id).map(() => ({ name: 'patch' })),
      readArtifact: async () => undefined,
      prepareArtifacts: async (attempt: Run) => {
        requireSpace();
        const leftBy = artifacts.kept.get(key(attempt));
        if (leftBy !== undefined) artifacts.prepared.set(attempt.id, leftBy);
        return leftBy === undefined ? undefined : '/prepared';
      },
      discardPrepared: async () => undefined,
    };
  }

  /** What alerts are made from and sent with. */
  #alertDeps() {
    const { product, kind } = this.#world.store;
    const nothing = async () => [];
    const deliveries = new Proxy({} as DeliveryLogReader, {
      get: (_, verb: keyof DeliveryLogReader) => (given: never) =>
        this.#world.store.read(this.#process, () => this.#world.store.reader[verb as 'findRun'](given)),
    });
    const value = { text: alertSecret };
    const open = async (names: readonly string[]) => new Map(names.map(name => [name, { name, value }]));
    const replicas = { takeTurn: this.#takeTurn };
    return {
      store: {
        ...{ deliveries, alerts: this.#openAlerts(), teamSecrets: { open } },
        ...{ reconcileStatuses: {}, replicas: kind === 'postgres' ? replicas : undefined },
      },
      settings: { alerts: [alertReceiver], repositories: [] },
      targets: { receivers: [product.nameReceiver(alertReceiver)], dashboardUrl: 'http://127.0.0.1' },
      ...{ thread: { run: nothing }, served: { listSenders: () => [] } },
    };
  }

  #openAlerts(): Alerts {
    const world = this.#world;
    const process = this.#process;
    return {
      read: () => world.store.read(process, () => world.alerts),
      change: async change => {
        await world.store.transit(process);
        if (this.#isDiskFull && world.store.kind === 'embedded') throw new Error('no space');
        world.alerts = change(world.alerts);
        const { alerts } = world;
        await world.store.transit(process);
        return alerts;
      },
    };
  }

  readonly #takeTurn = async (name: string, everyMs: number) => {
    const { scheduler, store, turns } = this.#world;
    const process = this.#process;
    await store.transit(process);
    const turn = turns.get(name) ?? { by: undefined, endedMs: -Infinity };
    if ((turn.by && !turn.by.isDead) || scheduler.nowMs - turn.endedMs < everyMs) return undefined;
    turns.set(name, { ...turn, by: process });
    const end = async () => void turns.set(name, { by: undefined, endedMs: scheduler.nowMs });
    return { lost: new AbortController().signal, end };
  };

  #fails(what: 'cancelsFail' | 'keepingFails' | 'leavesOut'): boolean {
    if (this.#toFail[what] === 0) return false;
    this.#toFail[what]--;
    this.#troubled(0);
    return true;
  }

  /** Stands for what ends a cancelled run at its receiver. */
  #endCancelled(): undefined {
    if (this.#fails('cancelsFail')) throw new Error('its secret cannot be opened');
    return undefined;
  }

  /** Stands for the command or receiver of a run. It ends soon after its signal. */
  #execute(run: Run, signal: AbortSignal): Promise<AttemptResult> {
    const world = this.#world;
    const { model, scheduler } = world;
    const event = world.eventOf(run.id);
    const planned = event?.results[run.claims - 1] ?? 'succeeded';
    // Commands do not report.
    const result = commandRunners.has(run.runner) && !isEnd(planned) ? 'succeeded' : planned;
    const execution = { run: run.id, claims: run.claims, claimedBy: `${run.claimedBy}`, daemon: this.name };
    world.store.tell(this.#process, () => `begins ${run.id}, claim ${run.claims}`);
    world.check(() => model.began(execution));
    return new Promise(resolve => {
      const end = (ended: AttemptResult) => {
        world.store.tell(this.#process, () => `ends ${run.id}, claim ${run.claims}: ${ended.kind}`);
        model.ended(execution);
        resolve(ended);
      };
      const whole = scheduler.add(this.#process, event?.attemptMs ?? 0, () => {
        signal.removeEventListener('abort', stop);
        world.noteResult(run.id, result);
        end(this.#toResult(run, result));
      });
      const stop = () => {
        scheduler.cancel(whole);
        scheduler.add(this.#process, world.random() * 50, () =>
          end({ kind: 'retry', reason: 'it was stopped' }),
        );
      };
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  #toResult(run: Run, result: Result): AttemptResult {
    const reason = 'as planned';
    if (isEnd(result)) return { kind: result, reason };
    const times = { reports: 1, 'reports twice': 2, 'reports failure': 1, 'is silent': 0 }[result];
    // The first report may arrive before the daemon has recorded that the run waits.
    for (let time = 0; time < times; time++)
      this.#world.later(this.#world.random() * 400, () =>
        this.#world.report(run, result === 'reports failure' ? 'failed' : 'succeeded'),
      );
    this.#world.noteResult(run.id, 'retry');
    return { kind: 'waiting', untilMs: this.nowMs() + reportWithinMs, reason };
  }
}

/** In the order of a daemon that stops. */
async function close({ log, queue, reports, alerts }: Parts): Promise<void> {
  await alerts?.stop();
  await reports?.stop();
  await queue?.stop();
  await log.close();
}

function isEnd(result: Result): result is 'succeeded' | 'failed' | 'retry' | 'unattempted' {
  return ['succeeded', 'failed', 'retry', 'unattempted'].includes(result);
}
