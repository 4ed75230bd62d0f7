import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll } from 'vitest';
import { eventually } from './eventually.ts';
import { findFreePort } from './free-port.ts';
import { notRoot, query, type SharedServer } from './postgres.ts';

export const hasPooler = spawnSync('pgbouncer', ['--version']).status === 0;

/** Runs PgBouncer in transaction mode before a server, and returns a function that makes a URL lead through it. */
export function usePooler(server: SharedServer): (url: string) => string {
  let port = 0;
  const stop = new AbortController();
  const throughPooler = (url: string) => Object.assign(new URL(url), { port: String(port) }).href;
  beforeAll(async () => {
    port = await findFreePort();
    const file = join(mkdtempSync(join(tmpdir(), 'pooler-')), 'pgbouncer.ini');
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port} user=hookmill`,
      '[pgbouncer]',
      'pool_mode = transaction',
      'auth_type = any',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const [command = 'pgbouncer', ...args] = [...notRoot, 'pgbouncer', file];
    void execa(command, args, { reject: false, cancelSignal: stop.signal, stdio: 'ignore' });
    const answers = () => query(throughPooler('postgres://hookmill@127.0.0.1/postgres'), 'SELECT 1');
    await eventually(() => answers().then(Boolean, () => false));
  });
  afterAll(() => stop.abort());
  return throughPooler;
}
