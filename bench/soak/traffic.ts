import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { post } from '../support/load.ts';
import { pace } from '../support/timing.ts';
import { makeRequest, type SenderRequest, senderNames, startsRun } from './senders.ts';

export interface Traffic {
  /** The answers by kind of request. */
  readonly counts: Readonly<Record<string, number>>;
  /** The IDs of the accepted deliveries, and whether each must have started a run. */
  readonly accepted: ReadonlyMap<string, boolean>;
  /** Answers that were not as they must be, and requests that failed: also others than those of the traffic. */
  readonly unexpected: string[];
  /** Takes the times that answers took since the last call, in ms. */
  takeTimes(): readonly number[];
  /** Sends nothing more, and waits for the last answers. */
  stop(): Promise<void>;
}

/** The kinds of requests: how many of 100 there are, the status that answers them, and the length of their text. */
const kinds = {
  new: { part: 70, status: 202, textBytes: 900 },
  duplicate: { part: 11, status: 202, textBytes: 900 },
  'wrong secret': { part: 10, status: 401, textBytes: 900 },
  'invalid JSON': { part: 3, status: 400, textBytes: 900 },
  'unknown webhook': { part: 3, status: 404, textBytes: 900 },
  'too large': { part: 2, status: 413, textBytes: 300_000 },
  large: { part: 1, status: 202, textBytes: 200_000 },
};
type Kind = keyof typeof kinds;
const turns = (Object.keys(kinds) as Kind[]).flatMap(kind => Array<Kind>(kinds[kind].part).fill(kind));
/** Deliveries that may be sent again: those of the last seconds, because signatures with a timestamp expire. */
const recentMax = 200;

interface Planned {
  readonly kind: Kind;
  readonly sent: SenderRequest;
  readonly hasRun: boolean;
  /** The delivery of which it is a duplicate. */
  readonly first?: string;
}

/** The URL of a sender's webhook; without a sender, of no webhook. */
type FindUrl = (sender?: string) => string;

/** Sends requests of all kinds and senders at a constant rate, whether or not earlier ones were answered. */
export function startTraffic(findUrl: FindUrl, perSecond: number): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const counts: Record<string, number> = {};
  const accepted = new Map<string, boolean>();
  const unexpected: string[] = [];
  const times: number[] = [];
  const recent: { sent: SenderRequest; id: string }[] = [];
  const inFlight = new Set<Promise<void>>();
  const stopping = Promise.withResolvers<void>();

  const plan = (count: number): Planned => {
    // 37 and 100 have no common factor, so that each 100 requests are a mix of all kinds.
    const kind = turns[(count * 37) % turns.length] ?? 'new';
    const earlier = recent[count % recentMax];
    if (kind !== 'duplicate' || !earlier) return planNew(findUrl, kind === 'duplicate' ? 'new' : kind, count);
    return { kind, sent: earlier.sent, hasRun: false, first: earlier.id };
  };
  const send = async ({ kind, sent, hasRun, first }: Planned): Promise<void> => {
    const { status, text, ms } = await post(sent.url, sent, agent);
    times.push(ms);
    counts[kind] = (counts[kind] ?? 0) + 1;
    const id = /dlv_[0-9a-z]+/.exec(text)?.[0];
    if (status !== kinds[kind].status || (first !== undefined && id !== first))
      unexpected.push(`${kind}: ${status} ${text.slice(0, 200)}`);
    if (status !== 202 || !id || first !== undefined) return;
    accepted.set(id, hasRun);
    if (kind === 'new') recent[accepted.size % recentMax] = { sent, id };
  };
  const sending = pace(perSecond, stopping.promise, count => {
    const sent = send(plan(count)).catch((error: Error) => void unexpected.push(error.message));
    inFlight.add(sent);
    void sent.finally(() => inFlight.delete(sent));
  });
  return {
    ...{ counts, accepted, unexpected },
    takeTimes: () => times.splice(0),
    stop: async () => {
      stopping.resolve();
      await sending;
      await Promise.all(inFlight);
      agent.destroy();
    },
  };
}

function planNew(findUrl: FindUrl, kind: Kind, count: number): Planned {
  const sender = senderNames[Math.floor(count / 7) % senderNames.length] ?? '';
  const payload = { n: randomUUID(), kind: count % 3 === 0 ? 'failed' : 'ok' };
  const text = 'x'.repeat(kinds[kind].textBytes);
  const url = kind === 'unknown webhook' ? findUrl() : findUrl(sender);
  const body = kind === 'invalid JSON' ? `{"n":"${payload.n}",` : JSON.stringify({ ...payload, text });
  const secret = kind === 'wrong secret' ? 'whsec_d3JvbmctLXdyb25nLS13cm9uZy0td3JvbmctLTE=' : undefined;
  const sent = makeRequest(sender, { id: randomUUID(), url, body }, secret);
  return { kind, sent, hasRun: startsRun(sender, payload) };
}
