import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createBoundedServer, listen } from '../../../../daemon/http/http-server.ts';
import { connectTo, head } from '../../../support/http.ts';

async function startServer(listener: RequestListener): Promise<string> {
  const server = createBoundedServer(listener, { isProxy: () => false });
  const { port } = await listen(server, { port: 0, host: '127.0.0.1' });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${port}/`;
}

test('parses little more of a body that arrived at once, after its request was refused', async () => {
  let pieces = 0;
  const refuse = async (request: IncomingMessage) => {
    await Promise.resolve();
    request.socket.removeAllListeners('data').on('data', () => undefined);
  };
  const url = await startServer((request, response) => {
    request.on('data', () => pieces++);
    void refuse(request).then(() => response.end());
  });
  const connection = await connectTo(url);
  connection.write(head(url, ['Transfer-Encoding: chunked']) + '1\r\n \r\n'.repeat(5_000));
  await connection.receives(/^HTTP\/1\.1 200 /);
  expect(pieces).toBeLessThan(500);
});

test('the new connections of one address take turns, so that another one is served between them', async () => {
  // The next turn begins only when the test says so. Vitest's own polling would advance the timers.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const served: string[] = [];
  const requests = new EventEmitter();
  const url = await startServer((request, response) => {
    served.push(request.socket.remoteAddress ?? '');
    response.end();
    requests.emit('served');
  });
  const open = (localAddress: string) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
    onTestFinished(() => void socket.destroy());
    socket.write(head(url, ['Content-Length: 0']));
  };
  for (let count = 0; count < 200; count++) open('127.0.0.1');
  while (served.length < 64) await once(requests, 'served');
  open('127.0.0.2');
  while (!served.includes('127.0.0.2')) await once(requests, 'served');
  expect(served).toHaveLength(65);

  while (served.length < 201) {
    vi.advanceTimersByTime(10);
    await setImmediate();
  }
});
