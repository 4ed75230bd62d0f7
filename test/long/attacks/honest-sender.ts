import { request } from 'node:http';

/** One honest delivery. */
export interface HonestDelivery {
  readonly startedMs: number;
  readonly ms: number;
  /** The status, or the error of the connection. */
  readonly answer: string;
}

export interface HonestSender {
  /** The deliveries that were sent since then, as far as they were answered. */
  since(startedMs: number): readonly HonestDelivery[];
  /** Sends no more, and waits for the answers. */
  stop(): Promise<void>;
}

/** The address of this machine that honest deliveries come from. */
const ownAddress = '127.0.0.2';
/** Far apart enough for the machine, and close enough to notice each stall. */
const everyMs = 50;
const answerMs = 60_000;

/** Delivers to one URL after the other, each delivery over a new connection, whether or not the last was answered. */
export function startHonestSender(urls: readonly string[], token: string): HonestSender {
  const deliveries: HonestDelivery[] = [];
  const open = new Set<Promise<void>>();
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const startedMs = performance.now();
    const sent = deliver(urls[count % urls.length] ?? '', token, count).then(answer => {
      deliveries.push({ startedMs, ms: performance.now() - startedMs, answer });
      open.delete(sent);
    });
    open.add(sent);
  }, everyMs);
  return {
    since: startedMs => deliveries.filter(delivery => delivery.startedMs >= startedMs),
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

function deliver(url: string, token: string, id: number): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise(resolve => {
    const options = { method: 'POST', agent: false, localAddress: ownAddress, headers, timeout: answerMs };
    const sent = request(url, options, answer => {
      answer.resume();
      answer.on('end', () => resolve(String(answer.statusCode)));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', error => resolve(error.message));
    sent.end(JSON.stringify({ id, text: 'x'.repeat(900) }));
  });
}
