// Servers to compare the ingress with: they read the body, answer 202, and do nothing else.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import Koa from 'koa';
import getRawBody from 'raw-body';

const listeners: Record<string, () => RequestListener> = {
  koa: () => {
    const app = new Koa();
    app.use(async context => {
      await getRawBody(context.req, { limit: 262_144, length: context.request.length });
      context.status = 202;
      context.body = { delivery_id: 'dlv_00000000000000000000000000' };
    });
    return app.callback();
  },
  http: () => async (request, response) => {
    await buffer(request);
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end('{"delivery_id":"dlv_00000000000000000000000000"}');
  },
};

const server = createServer(listeners[process.argv[2] ?? 'koa']?.());
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
