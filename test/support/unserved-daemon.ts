import { expect, onTestFinished } from 'vitest';
import { eventually } from './eventually.ts';
import type { Workspace } from './workspace.ts';

/** Starts a daemon at the target of a copy that is not complete, and checks that it serves nothing and says why. */
export async function startUnserved(workspace: Workspace, env: Readonly<Record<string, string>>) {
  const words = ['serve', '--port', '0', '--management-port', '0'];
  const child = workspace.start(words, { env, buffer: false, forceKillAfterDelay: false });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', chunk => {
      output[name] += chunk;
    });
  const find = () => /"ingress":"(http:[^"]+)","management":"(http:[^"]+)"/.exec(output.stderr);
  const [, ingress, management] = (await eventually(find)) ?? [];
  const reason = 'a copy or restore to this store is not complete; run it again, or empty the store';
  expect(output.stderr).toContain(reason);
  const refused = await fetch(`${ingress}/webhooks/w/wh_${'0'.repeat(24)}`, { method: 'POST', body: '{}' });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('30');
  expect((await fetch(`${management}/healthz`)).status).toBe(200);
  const readyz = await fetch(`${management}/readyz`);
  expect([readyz.status, await readyz.json()]).toEqual([503, { status: 'not ready', reason }]);
  const throughProxy = await fetch(`${management}/readyz`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect(await throughProxy.json()).toEqual({ status: 'not ready' });
  expect((await fetch(`${management}/metrics`)).status).toBe(503);
  return {
    /** Waits until it serves, and returns the URL of its ingress. */
    served: async () =>
      (await eventually(() => /serves \d+ webhooks? on (http:\S+)/.exec(output.stdout)))[1] ?? '',
    stop: async () => {
      child.kill('SIGTERM');
      expect((await child).exitCode).toBe(0);
    },
  };
}
