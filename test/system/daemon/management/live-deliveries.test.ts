import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { LiveDeliveries, type LiveDeliveriesOptions } from '../../../../daemon/management/live-deliveries.ts';
import type { LoggedDelivery } from '../../../../store/ports/delivery-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { connectTo } from '../../../support/http.ts';

const view = { factory: 'default', permission: 'read' } as const;

function rows(count: number, identity = ''): LoggedDelivery[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ id: `dlv_${index}`, factory: 'default', webhook: 'pay', uid: 'wh_000000000000000000000pay' },
    ...{ atMs: 1_750_000_000_000, size: 2, outcome: 'Accepted', identity },
  }));
}

/** Opens live views over real sockets, so that a client can stop reading. */
async function openBench(options: LiveDeliveriesOptions) {
  const live = new LiveDeliveries(options);
  const responses: ServerResponse[] = [];
  const server = createServer((_, response) => {
    responses.push(response);
    live.view(view, response, { key: 'one', token: 'one', maySee: async () => true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    live.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const connect = async () => {
    const connection = await connectTo(url);
    connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.receives(/retry: 2000/);
    return connection;
  };
  return { live, connect, responses };
}

test('sends the newest of what came in an interval, and how many more there were', async () => {
  const { live, connect } = await openBench({ intervalMs: 1 });
  const connection = await connect();
  live.publish(() => rows(50));
  const text = await connection.receives(/"skipped":\d+\}/);
  const { deliveries, skipped } = JSON.parse(/data: (.*)/.exec(text)?.[1] ?? '');
  expect(deliveries.map(({ id }: { id: string }) => id)).toEqual(
    rows(50)
      .map(({ id }) => id)
      .slice(30),
  );
  expect(skipped).toBe(30);
});

test('cuts a client off that does not read, while another gets everything', async () => {
  const { live, connect, responses } = await openBench({ intervalMs: 1, viewerBytesMax: 64 * 1024 });
  const slow = await connect();
  slow.socket.pause();
  const quick = await connect();
  let received = '';
  quick.socket.on('data', text => {
    received += text;
  });
  // More than the operating system keeps between the two.
  for (let events = 1; !responses[0]?.destroyed; events++) {
    live.publish(() => rows(20, 'x'.repeat(50_000)));
    await eventually(() => received.split('"skipped":0}\n\n').length > events);
  }
  expect(responses[1]?.destroyed).toBe(false);
  await expect.poll(() => live.viewerCount).toBe(1);
});

test('writes to a silent view, so that everybody knows it is alive', async () => {
  const { connect } = await openBench({ heartbeatMs: 5 });
  const connection = await connect();
  await connection.receives(/: alive\n\n/);
});

test('makes no rows while nobody looks', async () => {
  const { live, connect } = await openBench({ intervalMs: 1 });
  let made = 0;
  const publish = () =>
    live.publish(() => {
      made++;
      return [];
    });
  publish();
  expect(made).toBe(0);
  const connection = await connect();
  publish();
  expect(made).toBe(1);
  connection.socket.destroy();
  await expect.poll(() => live.viewerCount).toBe(0);
  publish();
  expect(made).toBe(1);
});

test('leaves each factory its share of the views, however many the others have', () => {
  const live = new LiveDeliveries();
  onTestFinished(() => live.close());
  const open = (factory: string, token: string) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    live.view({ ...view, factory }, response, { key: token, token, maySee: async () => true });
  };
  for (let n = 0; n < 256; n += 1) open('greedy', `token ${n}`);
  expect(() => open('greedy', 'another')).toThrow(expect.objectContaining({ code: 'too-many-viewers' }));
  for (let n = 0; n < 8; n += 1) open('modest', `token ${n}`);
  expect(() => open('modest', 'another')).toThrow(expect.objectContaining({ code: 'too-many-viewers' }));
  expect(live.viewerCount).toBe(264);
});
