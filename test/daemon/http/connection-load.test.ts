import { execFileSync } from 'node:child_process';
import type { IncomingMessage, RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createBoundedServer, listen } from '../../../daemon/http/http-server.ts';
import { connectTo, head } from '../../support/http.ts';

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
  const served: string[] = [];
  const url = await startServer((request, response) => {
    served.push(request.socket.remoteAddress ?? '');
    response.end();
  });
  const { port } = new URL(url);
  // While this process waits for the clients, the system accepts their connections and keeps what they send. So all of it
  // is there when the first turn begins, the other address last.
  const clients = `
    const { connect } = require('node:net');
    const ask = localAddress => new Promise(resolve => {
      const socket = connect({ port: ${port}, host: '127.0.0.1', localAddress });
      socket.write(${JSON.stringify(head(url, ['Content-Length: 0']))}, resolve);
    });
    Promise.all(Array.from({ length: 200 }, () => ask('127.0.0.1')))
      .then(() => ask('127.0.0.2'))
      .then(() => process.exit());`;
  execFileSync(process.execPath, ['-e', clients]);
  await expect.poll(() => served.length).toBe(201);
  expect(served.indexOf('127.0.0.2')).toBeLessThan(150);
});
