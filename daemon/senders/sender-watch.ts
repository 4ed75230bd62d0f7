import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Recovered, Watched } from '../../operations/senders/asked-events.ts';
import type { OwnBaseUrl } from '../../schema/ingress-url.ts';
import { hasRoom, type Quota } from '../../schema/quota.ts';
import { backOffMs } from '../../schema/retry-waits.ts';
import type { Replicas } from '../../store/ports/replicas.ts';
import { doInTurn, untilAborted } from '../background-work.ts';
import type { OperationsThread } from '../operations-thread/operations-thread.ts';
import type { RecoverArgument, SenderArgument } from '../operations-thread/wire.ts';
import type { SenderOfFactory } from '../served/served-states.ts';

/** @limit Time between two looks at a webhook's provider, in ms; it varies by a tenth. */
const lookEveryMs = 10 * 60_000;
/** @limit Longest time from a start to the first look at a provider, in ms: what was missed meanwhile is asked for soon. */
const lookFirstMs = 15_000;
/** @limit Time after another daemon's look in which a daemon that starts does not look, in ms. */
const firstTurnMs = 60_000;
/** @limit Looks at providers at the same time: a provider that does not answer holds up only its own factory. */
const looksQuota: Quota = { all: 4, share: 1, reserve: 0 };
/** @limit Longest wait after looks that failed, in ms. The first one is as long as between two looks. */
const backOffMaxMs = 2 * 60 * 60_000;
/** @limit Events that the daemon asks for with one task of the operations thread. */
const eventsAtOnce = 20;
/** @limit Longest wait between two parts of a recovery, in ms: whether the pace allows more costs little to know. */
const partEveryMs = 1_000;
/** @limit Longest wait for which a recovery goes on, in ms: after a longer one, the next look begins another. */
const waitMaxMs = 10 * 60_000;

export interface SendersOptions {
  readonly thread: Pick<OperationsThread, 'run'>;
  readonly listSenders: () => readonly SenderOfFactory[];
  readonly replicas: Pick<Replicas, 'takeTurn'> | undefined;
  readonly baseUrl: () => OwnBaseUrl;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly random: () => number;
}

interface Schedule {
  /** By the monotonic clock. */
  nextAtMs: number;
  failures: number;
  isFirst: boolean;
  isLooking: boolean;
  readonly factory: string;
}

type ToAsk = Pick<Watched, 'toAsk' | 'listedAtMs'>;

/** Looks at the provider of each webhook that has one, soon after the start and then about every ten minutes. */
export class SenderWatch {
  readonly #options: SendersOptions;
  readonly #schedules = new Map<string, Schedule>();
  /** The events that recoveries in progress still have to ask for, by the UID of the webhook. */
  readonly #recoveries = new Map<string, ToAsk>();
  readonly #working = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: SendersOptions) {
    this.#options = options;
  }

  /** Begins the looks that are due. */
  lookAtDue(): void {
    const { listSenders, monotonicMs, random } = this.#options;
    const now = monotonicMs();
    const senders = listSenders();
    const uids = new Set(senders.map(({ uid }) => uid));
    for (const uid of this.#schedules.keys()) if (!uids.has(uid)) this.#schedules.delete(uid);
    for (const sender of senders) {
      const schedule = this.#schedules.get(sender.uid) ?? {
        ...{ nextAtMs: now + lookFirstMs * random(), failures: 0, isFirst: true, isLooking: false },
        factory: sender.factory,
      };
      this.#schedules.set(sender.uid, schedule);
      const looking = [...this.#schedules.values()].flatMap(({ isLooking, factory }) =>
        isLooking ? factory : [],
      );
      const isFree = hasRoom(looksQuota, looking, sender.factory);
      if (now < schedule.nextAtMs || schedule.isLooking || !isFree) continue;
      this.#work(this.#look(sender, schedule));
    }
  }

  /** Resolves when nothing more is begun. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
  }

  #work(work: Promise<void>): void {
    const handled = work.finally(() => this.#working.delete(handled));
    this.#working.add(handled);
  }

  async #look(sender: SenderOfFactory, schedule: Schedule): Promise<void> {
    const { replicas, log, monotonicMs, random } = this.#options;
    schedule.isLooking = true;
    const everyMs = schedule.isFirst ? firstTurnMs : lookEveryMs;
    let problem: unknown = null;
    try {
      const done = await doInTurn(replicas, `sender-${sender.uid}`, everyMs, () => this.#watch(sender));
      problem = done?.result?.problem ?? null;
      if (done?.result && done.result.toAsk.length > 0) this.#recover(sender, done.result);
    } catch (error) {
      problem = error;
    }
    if (this.#stopping.signal.aborted) return;
    if (problem !== null && schedule.failures === 0)
      log.warn({ ...sender, reason: String(problem) }, 'cannot compare the log of a provider yet');
    const waitMs =
      problem === null
        ? lookEveryMs * (0.9 + 0.2 * random())
        : backOffMs(schedule.failures + 1, { firstMs: lookEveryMs, maxMs: backOffMaxMs }, random());
    schedule.failures = problem === null ? 0 : schedule.failures + 1;
    schedule.nextAtMs = monotonicMs() + waitMs;
    schedule.isFirst = false;
    schedule.isLooking = false;
  }

  #watch(sender: SenderOfFactory): Promise<Watched | undefined> {
    const watching = this.#options.thread.run('watchSender', this.#argument(sender));
    return untilAborted(watching, this.#stopping.signal);
  }

  #argument(sender: SenderOfFactory): SenderArgument {
    const { baseUrl, nowMs } = this.#options;
    return { ...sender, baseUrl: baseUrl(), nowMs: nowMs() };
  }

  /** Asks for events until none is left. A recovery in progress goes on with the newer list. */
  #recover({ factory, uid }: SenderOfFactory, toAsk: ToAsk): void {
    const isRunning = this.#recoveries.has(uid);
    this.#recoveries.set(uid, toAsk);
    if (isRunning) return;
    const { replicas, log } = this.#options;
    const recovering = doInTurn(replicas, `recover-${uid}`, 0, lost => this.#askAll({ factory, uid }, lost))
      .catch((err: unknown) => {
        if (!this.#stopping.signal.aborted)
          log.warn({ err, factory, uid }, 'cannot ask for missed events yet');
      })
      .then(() => void this.#recoveries.delete(uid));
    this.#work(recovering);
  }

  async #askAll(sender: SenderOfFactory, lost: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#stopping.signal, lost]);
    for (;;) {
      const { toAsk = [], listedAtMs = 0 } = this.#recoveries.get(sender.uid) ?? {};
      if (signal.aborted || toAsk.length === 0) return;
      const events = toAsk.slice(0, eventsAtOnce);
      const recovered = await this.#ask(sender, { listedAt: listedAtMs, events });
      if (!recovered || 'problem' in recovered) return;
      this.#leaveOut(sender.uid, recovered);
      const { nextInMs } = recovered;
      if (nextInMs !== null && nextInMs > waitMaxMs) return;
      const isWaiting = nextInMs !== null || !recovered.events.some(({ result }) => result !== 'too-soon');
      const waitMs = Math.min(nextInMs ?? partEveryMs, partEveryMs);
      if (isWaiting) await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask(sender: SenderOfFactory, request: RecoverArgument['request']): Promise<Recovered | undefined> {
    const { thread, log } = this.#options;
    const argument: RecoverArgument = { ...this.#argument(sender), request };
    const recovering = thread.run('recoverMissed', argument);
    const recovered = await untilAborted(recovering, this.#stopping.signal);
    if (!recovered) return undefined;
    const refused = 'problem' in recovered ? [] : recovered.events.filter(({ reason }) => reason !== null);
    const reason = 'problem' in recovered ? recovered.problem : refused[0]?.reason;
    if (reason) log.warn({ ...sender, reason, events: refused.length }, 'a provider sends no events again');
    return recovered;
  }

  /** Leaves out what need not be asked for any more. */
  #leaveOut(uid: string, { events }: Extract<Recovered, { readonly events: unknown }>): void {
    const current = this.#recoveries.get(uid);
    if (!current) return;
    const open = new Set(events.filter(({ result }) => result === 'too-soon').map(({ eventId }) => eventId));
    const known = new Set(events.map(({ eventId }) => eventId));
    const toAsk = current.toAsk.filter(({ eventId }) => !known.has(eventId) || open.has(eventId));
    // Nothing was judged if `recover` was switched off.
    this.#recoveries.set(uid, { ...current, toAsk: events.length === 0 ? [] : toAsk });
  }
}
