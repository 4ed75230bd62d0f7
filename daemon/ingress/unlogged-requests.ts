import { type UnloggedReason, unloggedReasons } from '../../schema/delivery.ts';
import type { DeliveryLog, UnloggedCount } from '../../store/ports/delivery-log.ts';
import type { MeantWebhook } from '../served/find-meant.ts';
import type { IngressOutcome, ProblemCode } from './answer.ts';

/** @limit Time between two writes of the counts of requests without a row, in ms: whoever asks why sees the last second's. */
const writeEveryMs = 1_000;

/** @limit Most counts of requests without a row in one transaction: deliveries wait a few ms for them at most. */
const countsPerWriteMax = 500;

/** @limit Most different counts of similar URLs between two writes: a URL that is nearly right is a mistake in one or two senders. */
const similarUrlsMax = 20;

type Refused = IngressOutcome & { readonly result: 'refused' };
type Count = { -readonly [Key in keyof UnloggedCount]: UnloggedCount[Key] };

/** Why a request to a webhook has no row. Some with the same problem have one. */
const reasons: Readonly<Record<ProblemCode, UnloggedReason>> = {
  'not-found': 'disabled',
  'method-not-allowed': 'method',
  unauthorized: 'authentication',
  'too-large': 'not recorded',
  'invalid-json': 'not recorded',
  'body-compressed': 'not recorded',
  'body-incomplete': 'incomplete',
  'body-in-pieces': 'incomplete',
  'too-many-uploads': 'incomplete',
  'too-many-deliveries': 'rate limit',
  'too-many-failures': 'failed attempts',
  'not-served': 'not recorded',
  'no-issuer-keys': 'issuer keys',
  unavailable: 'not recorded',
};

/** Counts the refused requests that have no row in the delivery log, in memory until they are taken. */
export class UnloggedRequests {
  readonly #counts = new Map(unloggedReasons.map(reason => [reason, new Map<string, Count>()]));
  readonly #totals = new Map(unloggedReasons.map(reason => [reason, 0]));
  readonly #findMeant: (path: string) => MeantWebhook | 'nobody' | undefined;
  readonly #nowMs: () => number;

  constructor(findMeant: (path: string) => MeantWebhook | 'nobody' | undefined, nowMs: () => number) {
    this.#findMeant = findMeant;
    this.#nowMs = nowMs;
  }

  /** The path is read only if no webhook was found. */
  count({ webhook, problem, deliveryId }: Refused, request: { readonly path: string }): void {
    if (deliveryId !== undefined) return;
    if (webhook) this.#add(reasons[problem], webhook.factory, webhook.uid, '');
    else this.#countMeant(problem, this.#findMeant(request.path));
  }

  /** Returns the counts since the last call. */
  take(): UnloggedCount[] {
    const taken = [...this.#counts.values()].flatMap(counts => [...counts.values()]);
    for (const counts of this.#counts.values()) counts.clear();
    return taken;
  }

  /** Takes back counts that could not be written. They are then of the minute of the last request. */
  giveBack(counts: readonly UnloggedCount[]): void {
    for (const { factory, uid, reason, detail, count, lastAtMs } of counts) {
      const known = this.#find(reason, factory, uid, detail);
      known.count += count;
      known.lastAtMs = Math.max(known.lastAtMs, lastAtMs);
    }
  }

  /** The requests since the start of the daemon. */
  get totals(): ReadonlyMap<UnloggedReason, number> {
    return this.#totals;
  }

  #countMeant(problem: ProblemCode, meant: MeantWebhook | 'nobody' | undefined): void {
    const isKnown = meant !== undefined && meant !== 'nobody';
    if (isKnown && meant.difference === '') this.#add(reasons[problem], meant.factory, meant.uid, '');
    else if (isKnown && this.#mapOf('similar URL').size < similarUrlsMax)
      this.#add('similar URL', meant.factory, meant.uid, meant.difference);
    // Browsers and monitors ask for anything with GET.
    else if (meant !== undefined && problem !== 'method-not-allowed') this.#add('unknown URL', '', '', '');
  }

  #add(reason: UnloggedReason, factory: string, uid: string, detail: string): void {
    const known = this.#find(reason, factory, uid, detail);
    known.count++;
    known.lastAtMs = this.#nowMs();
    this.#totals.set(reason, (this.#totals.get(reason) ?? 0) + 1);
  }

  #find(reason: UnloggedReason, factory: string, uid: string, detail: string): Count {
    const counts = this.#mapOf(reason);
    const key = detail === '' ? uid : `${uid} ${detail}`;
    const known = counts.get(key);
    if (known) return known;
    const created: Count = { factory, uid, reason, detail, count: 0, lastAtMs: 0 };
    counts.set(key, created);
    return created;
  }

  #mapOf(reason: UnloggedReason): Map<string, Count> {
    return this.#counts.get(reason) as Map<string, Count>;
  }
}

/**
 * Writes the counts to the delivery log every second while there are some. While the log cannot be written, they wait, so
 * that no delivery and no stop waits for them.
 */
export function startUnloggedWrites(
  requests: Pick<UnloggedRequests, 'take' | 'giveBack'>,
  deliveryLog: Pick<DeliveryLog, 'recordUnlogged' | 'describeTrouble'>,
): { stop(): Promise<void> } {
  const write = async () => {
    if (deliveryLog.describeTrouble() !== undefined) return;
    const counts = requests.take();
    for (let at = 0; at < counts.length; at += countsPerWriteMax) {
      const part = counts.slice(at, at + countsPerWriteMax);
      await deliveryLog.recordUnlogged(part).catch(() => requests.giveBack(part));
    }
  };
  let writing = Promise.resolve();
  const writeNext = () => {
    writing = writing.then(write);
    return writing;
  };
  const timer = setInterval(writeNext, writeEveryMs).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return writeNext();
    },
  };
}
