import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type LoadOptions, prepareRequests, type Target } from '../support/load.ts';

/**
 * Posts at a constant rate, whether or not earlier requests were answered, and returns how long each answer took, in ms.
 * (autocannon sends all requests of a second at its beginning, each connection as fast as it can.)
 */
export async function sendAtRate(
  target: Target,
  perSecond: number,
  { seconds, connections }: LoadOptions,
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const next = prepareRequests(target);
  const answers: Promise<number>[] = [];
  const startMs = performance.now();
  while (answers.length < seconds * perSecond) {
    const due = ((performance.now() - startMs) / 1_000) * perSecond;
    while (answers.length < due) answers.push(post(target, agent, next()));
    await delay(1);
  }
  const times = await Promise.all(answers);
  agent.destroy();
  return times;
}

function post(
  { name, url }: Target,
  agent: Agent,
  { headers, body }: ReturnType<ReturnType<typeof prepareRequests>>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const sent = request(url, { method: 'POST', agent, headers }, answer => {
      if (answer.statusCode !== 202) reject(new Error(`${name}: ${answer.statusCode}`));
      answer.resume();
      answer.on('end', () => resolve(performance.now() - startMs));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
