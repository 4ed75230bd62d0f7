import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';

/**
 * Opens so many live views of deliveries, as pages of the dashboard do, with the tokens in turn. One of them never reads.
 * Returns a function that closes them.
 */
export async function openViewers(
  managementUrl: string,
  tokens: readonly string[],
  viewers: number,
): Promise<() => void> {
  const { hostname, port, host } = new URL(managementUrl);
  const path = '/api/v1/factories/default/live-deliveries';
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
