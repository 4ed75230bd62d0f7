import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Work } from './notes.ts';

export interface SenderOptions {
  /** The URL of the webhook on each replica, by the replica's name. */
  readonly urls: ReadonlyMap<string, string>;
  readonly token: string;
  readonly workers: number;
  readonly onAnswer: (answer: Answer) => void;
}

/** Sends deliveries as providers do: what was not acknowledged is sent again, with the same identity. */
export interface Sender {
  /** The number of deliveries that a replica has acknowledged. */
  countAcknowledged(replica: string): number;
  /** Resolves when each delivery that was begun is acknowledged. */
  stop(): Promise<void>;
  /** Resolves when no request is open, acknowledged or not. */
  abandon(): Promise<void>;
}

const pauseMs = 50;
/** A sender gives up before a paused replica wakes, so that both may get the delivery. */
const answerMs = 8_000;
const repeatableMax = 1_000;

export function startSender({ urls, token, workers, onAnswer }: SenderOptions): Sender {
  const names = [...urls.keys()];
  const acknowledged = new Map(names.map(name => [name, 0]));
  const repeatable: Delivery[] = [];
  let isStopping = false;
  let isAbandoned = false;

  const post = async (replica: string, { identity, body }: Delivery): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'x-service-delivery-id': identity };
    const signal = AbortSignal.timeout(answerMs);
    try {
      const response = await fetch(urls.get(replica) ?? '', { method: 'POST', headers, body, signal });
      const { status } = response;
      const answer = (await response.json()) as { delivery_id?: string };
      const deliveryId = answer.delivery_id;
      return { identity, replica, status, ...(deliveryId !== undefined && { deliveryId }) };
    } catch {
      return { identity, replica };
    }
  };
  const deliver = async (delivery: Delivery, first: string) => {
    for (let replica = first; ; replica = pick(names)) {
      const answer = await post(replica, delivery);
      onAnswer(answer);
      if (answer.status === 202) {
        acknowledged.set(replica, (acknowledged.get(replica) ?? 0) + 1);
        return;
      }
      if (isAbandoned) return;
      await sleep(50 + 300 * Math.random());
    }
  };
  const work = async () => {
    while (!isStopping) {
      const chance = Math.random();
      const delivery = (chance < 0.1 && pick(repeatable)) || makeDelivery();
      // Some are sent to all replicas at the same moment.
      const targets = chance > 0.9 ? names : [pick(names)];
      await Promise.all(targets.map(name => deliver(delivery, name)));
      repeatable[Math.floor(Math.random() * repeatableMax)] = delivery;
      await sleep(pauseMs);
    }
  };
  const working = Array.from({ length: workers }, work);
  const stop = async () => {
    isStopping = true;
    await Promise.all(working);
  };
  return {
    countAcknowledged: replica => acknowledged.get(replica) ?? 0,
    stop,
    abandon: () => {
      isAbandoned = true;
      return stop();
    },
  };
}

interface Delivery {
  readonly identity: string;
  readonly body: string;
}

function makeDelivery(): Delivery {
  const identity = randomUUID();
  const chance = Math.random();
  const work: Work = chance < 0.01 ? 'slow' : chance < 0.06 ? 'quick' : 'none';
  return { identity, body: JSON.stringify({ id: identity, work, text: 'x'.repeat(500) }) };
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}
