import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { readDashboardFiles, serveDashboard } from '../../../../daemon/management/dashboard-files.ts';
import { send } from '../../../support/http.ts';

/** A server of a built dashboard, with a file beside it that does not belong to it. */
async function openServer() {
  const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
  mkdirSync(join(directory, 'built/assets'), { recursive: true });
  writeFileSync(join(directory, 'secret.js'), 'outside');
  writeFileSync(join(directory, 'built/index.html'), '<!doctype html>');
  writeFileSync(join(directory, 'built/assets/app-1a2b.js'), 'start()');
  writeFileSync(join(directory, 'built/assets/app-1a2b.js.map'), '{}');
  symlinkSync(join(directory, 'secret.js'), join(directory, 'built/link.js'));
  const app = new Koa();
  app.use((context, next) => {
    context.set('Cache-Control', 'no-store');
    return next();
  });
  app.use(serveDashboard(await readDashboardFiles(join(directory, 'built'))));
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
  });
  await new Promise(resolve => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return (target: string, method = 'GET', headers = {}) => send(url, { method, target, headers });
}

test('serves every page uncached, and assets that browsers cache forever', async () => {
  const get = await openServer();
  for (const place of ['/', '/factories/default/webhooks', '/index.html']) {
    expect(await get(place)).toMatchObject({
      status: 200,
      body: '<!doctype html>',
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    });
  }
  expect(await get('/assets/app-1a2b.js')).toMatchObject({
    body: 'start()',
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    },
  });
});

test('compresses files for clients that can read that', async () => {
  const get = await openServer();
  const path = '/assets/app-1a2b.js';
  const gzipped = await get(path, 'HEAD', { 'accept-encoding': 'br, gzip' });
  expect(gzipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  for (const headers of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip;q=0' }]) {
    const plain = await get(path, 'GET', headers);
    expect(plain).toMatchObject({ body: 'start()', headers: { vary: 'Accept-Encoding' } });
    expect(plain.headers).not.toHaveProperty('content-encoding');
  }
});

test.for([
  '/../secret.js',
  '/assets/../../secret.js',
  '/assets/..%2f..%2fsecret.js',
  '/link.js',
  '/assets/app-1a2b.js.map',
  '/assets/gone.js',
  '/assets',
  '/api/v1/nothing',
])('has nothing else: %s', async target => {
  const get = await openServer();
  const { status, body } = await get(target);
  expect(body).not.toContain('outside');
  if (target !== '/assets') expect(status).toBe(404);
});

test('takes no POST, and serves nothing where no dashboard was built', async () => {
  const get = await openServer();
  expect(await get('/', 'POST')).toMatchObject({ status: 404 });
  expect(await readDashboardFiles(join(tmpdir(), 'no-such-directory'))).toEqual(new Map());
});
