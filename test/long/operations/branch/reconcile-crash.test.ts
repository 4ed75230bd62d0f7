import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { mirrorDirectory } from '../../../../store/home/home.ts';
import { followedFactory, makeUpstream, temporaryDirectory, webhook } from '../../../support/git-samples.ts';
import { serveSilence } from '../../../support/git-servers.ts';

const rounds = inject('isLong') ? 20 : 1;
const script = fileURLToPath(new URL('./reconcile-process.ts', import.meta.url));

test('is at the old tip or the new one after kill -9 in fetch and apply, and goes on', async () => {
  const upstream = makeUpstream();
  let revision = upstream.commit({ 'webhooks/w0.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(`file://${upstream.bare}`);
  await reconcile();
  const mirror = mirrorDirectory(factory.home, factory.name);
  const writes = {
    fetch: [mirror, join(mirror, 'objects', 'pack'), join(mirror, 'refs', 'hookmill')],
    apply: ['applied', 'reconcile'].map(kind => join(factory.home.directory, kind)),
  };
  const cache = temporaryDirectory();
  let killed = 0;
  for (let round = 1; round <= rounds; round++) {
    const before = await factory.store.appliedStates.read(factory.name);
    revision = upstream.commit({
      [`webhooks/w${round - 1}.yaml`]: null,
      [`webhooks/w${round}.yaml`]: webhook('S', `# ${'x'.repeat(2_000)}${round}\n`.repeat(round % 2)),
      'large.bin': randomBytes(100_000).toString('hex'),
    });
    const child = startChild(factory.home.directory, `file://${upstream.bare}`, cache);
    const directories = round % 2 === 0 ? writes.fetch : writes.apply;
    // The first two at their first write, which is never their last.
    const nth = round <= 2 ? 1 : 1 + Math.floor(Math.random() * 8);
    if (await killAtWrite(child, directories, nth)) killed++;

    const { source, webhooks } = await factory.store.appliedStates.read(factory.name);
    const at = source?.kind === 'repository' ? source.revision : '';
    if (at === revision) expect(webhooks).toMatchObject([{ name: `w${round}` }]);
    else expect({ source, webhooks }).toEqual({ source: before.source, webhooks: before.webhooks });
  }
  expect(killed).toBeGreaterThan(0);
  await reconcile({ allowRename: true });
  expect(await reconcile()).toMatchObject({ result: 'unchanged', tip: { revision } });
  expect(readdirSync(join(mirror, 'objects', 'pack')).filter(name => name.startsWith('tmp_'))).toEqual([]);
});

test('leaves no git behind when it is killed', async () => {
  const { port, connected } = await serveSilence();
  const { factory } = await followedFactory('/x.git');
  const child = startChild(factory.home.directory, `http://127.0.0.1:${port}/x.git`);
  const socket = await connected;
  child.kill('SIGKILL');
  if (!socket.closed) await once(socket, 'close');
});

function startChild(home: string, url: string, compileCache?: string): ChildProcess {
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
  return spawn(process.execPath, [script, home, url], { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Kills the process when it writes in the directories for the nth time; false if it ended before that. */
async function killAtWrite(
  child: ChildProcess,
  directories: readonly string[],
  nth: number,
): Promise<boolean> {
  let left = nth;
  const watchers = directories.map(directory =>
    watch(directory, () => {
      if (--left === 0) child.kill('SIGKILL');
    }).on('error', () => undefined),
  );
  const [, signal] = await once(child, 'exit');
  for (const watcher of watchers) watcher.close();
  return signal === 'SIGKILL';
}
