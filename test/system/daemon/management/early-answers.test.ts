import { expect, test } from 'vitest';
import { apiPrefix } from '../../../../schema/api/route.ts';
import { connectTo } from '../../../support/http.ts';
import { startManagedDaemon } from '../../../support/management.ts';

const chunked = 'Transfer-Encoding: chunked';
/** Bytes of JSON white space, each in a chunk of its own. */
const inChunks = (count: number) => '1\r\n \r\n'.repeat(count);

test('closes the connection of whoever is answered before the body has ended, and parses no more of it', async () => {
  const { managementUrl, ingressUrl } = await startManagedDaemon();
  for (const [url, line, status] of [
    [managementUrl, `POST ${apiPrefix}/factories/default/plan`, 401],
    [managementUrl, `GET ${apiPrefix}/sign-in`, 200],
    [managementUrl, 'GET /healthz', 200],
    [managementUrl, `GET ${apiPrefix}/nothing`, 404],
    [ingressUrl, 'GET /webhooks/w/nothing', 405],
  ] as const) {
    const { host } = new URL(url);
    const connection = await connectTo(url);
    connection.write(`${line} HTTP/1.1\r\nHost: ${host}\r\n${chunked}\r\n\r\n${inChunks(10)}`);
    // A second request, which would be answered if the rest of the body was parsed.
    await connection.receives(/\r\n\r\n./s);
    connection.write(`0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    connection.socket.end();
    const received = await connection.closed;
    expect(received, line).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*\\r\\nConnection: close\\r\\n`, 's'));
    expect(received.match(/HTTP\/1\.1 /g), line).toHaveLength(1);
  }
});

test('cuts off a body in tiny chunks, of a stranger and of a token', async () => {
  const { managementUrl, client } = await startManagedDaemon();
  const { host } = new URL(managementUrl);
  const { token } = await client({ permission: 'read' });
  for (const lines of [
    [`POST ${apiPrefix}/session HTTP/1.1`],
    [`POST ${apiPrefix}/factories/default/plan HTTP/1.1`, `Authorization: Bearer ${token}`],
  ]) {
    const connection = await connectTo(managementUrl);
    const head = [...lines, `Host: ${host}`, 'Content-Type: application/json', chunked];
    connection.write(`${head.join('\r\n')}\r\n\r\n${inChunks(100_000)}`);
    expect(await connection.receives(/\}/)).toMatch(/^HTTP\/1\.1 400 .*\r\nConnection: close\r\n/s);
  }
});
