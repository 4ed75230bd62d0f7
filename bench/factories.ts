// Measures a daemon that serves many factories: the time until it is ready, its memory, what it takes of the processor
// while nothing happens, and the time until an apply to one factory is served, with the longest wait of a request to
// another factory meanwhile. The applied states are written by the store's own code, without an apply for each. Most
// webhooks have a token; the last ones of each factory verify signatures.
// The goal is at most 2 s, 250 MB and 100 ms for 100,000 webhooks in 5,000 factories.
// Usage: npm run bench:factories [-- --factories 5000 --webhooks 20 --signatures 5 --automations 1 --rounds 3 --applies 10]
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AppliedState, type AppliedWebhook, emptyAppliedState } from '../schema/applied-state.ts';
import { renderDocument } from '../store/documents/document-text.ts';
import { appliedStateFile, type Home, homeAt } from '../store/home/home.ts';
import { openStore } from '../store/open-store.ts';
import { credentialOwner } from '../store/ports/seal.ts';
import type { Store } from '../store/ports/store.ts';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { median, round } from './support/statistics.ts';

const { factories, webhooks, automations, signatures, rounds, applies } = parseNumbers({
  ...{ factories: 5_000, webhooks: 20, automations: 1, signatures: 5 },
  ...{ rounds: 3, applies: 10 },
});

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const options = { lockTimeoutMs: 10_000, now: () => new Date(), environment: {}, readsInThread: false };
  const store = await openStore({ home: factory.home, ...options });
  const home = homeAt(factory.home);
  for (let index = 0; index < factories; index++) await writeState(store, home, index);
  const rows = [];
  for (let index = 0; index < rounds; index++) {
    const before = performance.now();
    const daemon = await factory.serve();
    const readyMs = performance.now() - before;
    const cpuMs = readCpuMs(daemon.pid);
    const ready = readMemory(daemon.pid);
    await delay(10_000);
    const settled = readMemory(daemon.pid);
    const idleMs = readCpuMs(daemon.pid) - cpuMs;
    const reload = await measureApplies(store, daemon.ingressUrl);
    rows.push({
      'ready, ms': Math.round(readyMs),
      'of the processor, ms': cpuMs,
      'RSS when ready, MB': ready.rss,
      '10 s later, MB': settled.rss,
      'peak, MB': settled.peak,
      'processor in 10 s idle, ms': idleMs,
      ...reload,
    });
    daemon.kill();
    await delay(200);
  }
  await store.close();
  console.table(rows);
});

function uidAt(factory: number, webhook: number | string): string {
  return `wh_${hash('sha256', `${factory} ${webhook}`, 'hex')
    .replaceAll(/[^0-9a-z]/g, '')
    .slice(0, 24)}`;
}

async function writeState(store: Store, home: Home, index: number): Promise<void> {
  const file = appliedStateFile(home, `factory-${index}`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, renderDocument(await makeState(store, index)), { mode: 0o600 });
}

async function makeState({ seal }: Store, index: number): Promise<AppliedState> {
  const factory = `factory-${index}`;
  const makeWebhook = async (number: number): Promise<AppliedWebhook> => {
    const uid = uidAt(index, number);
    const own = { name: `webhook-${number}`, uid, secretName: 'BENCH', enabled: true };
    const secretVersion = '0123456789abcdef';
    if (number >= webhooks - signatures) {
      const jwe = await seal.seal(`secret-${uid}`, credentialOwner(factory, uid));
      const credential = { kind: 'sealed' as const, secretVersion, jwe };
      return { ...own, authMode: 'signature', signatureScheme: 'github', credential };
    }
    const sha256 = hash('sha256', uid);
    return { ...own, authMode: 'token', credential: { kind: 'digest', secretVersion, sha256 } };
  };
  return {
    ...emptyAppliedState(factory),
    serial: 1,
    source: { kind: 'directory', directory: `/srv/hooks/factory-${index}` },
    webhooks: await Promise.all(Array.from({ length: webhooks }, (_, number) => makeWebhook(number))),
    automations: Array.from({ length: automations }, (_, number) => ({
      name: `automation-${number}`,
      enabled: true,
      prompt: 'Triage this error. Say which change caused it.\nOpen a pull request that mends it.\n',
      triggers: [
        {
          provider: 'webhook',
          event: 'received',
          filter: {
            webhook_ids: [uidAt(index, number % webhooks)],
            payload: { action: ['created', 'reopened'], issue: { level: { in: ['error', 'fatal'] } } },
          },
        },
      ],
    })),
  };
}

/** Changes one factory after the other, and waits until the daemon serves the change. */
async function measureApplies({ appliedStates }: Store, ingressUrl: string) {
  const times: number[] = [];
  const waits: number[] = [];
  for (let index = 0; index < applies; index++) {
    const number = Math.floor((index * factories) / applies);
    const state = await appliedStates.read(`factory-${number}`);
    const uid = uidAt(number, `${state.serial} new`);
    await appliedStates.change(state.factory, async current => {
      const [first, ...others] = current.webhooks;
      return {
        next: { ...current, webhooks: first ? [{ ...first, uid }, ...others] : [] },
        result: undefined,
      };
    });
    const applied = performance.now();
    for (;;) {
      waits.push(await measureWait(`${ingressUrl}/webhooks/w/${uidAt((number + 1) % factories, 1)}`));
      const { status } = await post(`${ingressUrl}/webhooks/w/${uid}`);
      if (status !== 404) break;
      await delay(1);
    }
    times.push(performance.now() - applied);
    await delay(500);
  }
  return {
    'apply served, ms': round(median(times)),
    'slowest, ms': round(Math.max(...times)),
    'longest wait of others, ms': round(Math.max(...waits)),
  };
}

async function measureWait(url: string): Promise<number> {
  const before = performance.now();
  await post(url);
  return performance.now() - before;
}

async function post(url: string): Promise<Response> {
  const response = await fetch(url, { method: 'POST', body: '{}' });
  await response.arrayBuffer();
  return response;
}

/** The memory of a process, in MB of 10^6 bytes. */
function readMemory(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (field: string) =>
    Math.round((Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6);
  return { rss: read('VmRSS'), peak: read('VmHWM') };
}

/** The time of the processor that a process used, in ms. The clock of the kernel ticks 100 times a second. */
function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
