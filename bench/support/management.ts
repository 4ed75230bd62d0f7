import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import type { RunningDaemon } from './factory.ts';
import { median, round } from './statistics.ts';
import { timeMs } from './timing.ts';

const factoryPath = '/api/v1/factories/default';

/** Asks for a path below a factory's, or posts a body to it, and returns the JSON of the answer. */
// biome-ignore lint/suspicious/noExplicitAny: each path has an answer of its own
export type Api = (path: string, body?: object) => Promise<any>;

/** Opens a client of the management API with a token. It fails if an answer has not the status of a success. */
export function openApi({ managementUrl }: Pick<RunningDaemon, 'managementUrl'>, token: string): Api {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, body) => {
    const posted = body && { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${managementUrl}${factoryPath}${path}`, { headers, ...posted });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
}

/** Reads each path so many times, and returns the rows of a table: how long an answer took. */
export async function measureReads(
  api: Api,
  column: string,
  paths: Readonly<Record<string, string>>,
  repeats: number,
): Promise<readonly object[]> {
  const rows = [];
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = [];
    for (let count = 0; count < repeats; count++) times.push(await timeMs(() => api(path)));
    rows.push({ [column]: name, 'median ms': round(median(times)), 'worst ms': round(Math.max(...times)) });
  }
  return rows;
}

/**
 * Opens so many live views of deliveries, as pages of the dashboard do, with the tokens in turn. One of them never reads.
 * Returns a function that closes them.
 */
export async function openViewers(
  { managementUrl }: RunningDaemon,
  tokens: readonly string[],
  viewers: number,
): Promise<() => void> {
  const { hostname, port, host } = new URL(managementUrl);
  const path = `${factoryPath}/live-deliveries`;
  const views: ClientRequest[] = Array.from({ length: viewers - 1 }, (_, index) => {
    const headers = { authorization: `Bearer ${tokens[index % tokens.length]}` };
    return request({ hostname, port, path, headers, agent: false }, incoming => {
      incoming.on('error', () => undefined).resume();
    }).end();
  });
  for (const view of views) view.on('error', () => undefined);
  const silent = connect(Number(port), hostname).on('error', () => undefined);
  silent.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens[0]}\r\n\r\n`);
  silent.pause();
  await Promise.all(views.map(view => once(view, 'response')));
  return () => {
    silent.destroy();
    for (const view of views) view.destroy();
  };
}
