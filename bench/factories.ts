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
import { appliedStateFile, type Home, homeAt } from '../store/home/home.ts';
import { openStore } from '../store/open-store.ts';
import { credentialOwner } from '../store/ports/seal.ts';
import type { Store } from '../store/ports/store.ts';
import { renderDocument } from '../store/stored-json.ts';
import { readMemoryMb } from './support/daemon-figures.ts';
import { inTemporaryDirectory, openFactory, type RunningDaemon } from './support/factory.ts';
import { post } from './support/load.ts';
import { parseOptions } from './support/options.ts';
import { median, round } from './support/statistics.ts';
import { timeMs, until } from './support/timing.ts';

const { factories, webhooks, automations, signatures, rounds, applies } = parseOptions({
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
    const daemon = await factory.serve();
    const cpuMs = readCpuMs(daemon.pid);
    const readyMb = readMemoryMb(daemon.pid, 'VmRSS');
    await delay(10_000);
    rows.push({
      'ready, ms': Math.round(daemon.readyMs),
      'of the processor, ms': cpuMs,
      'RSS when ready, MB': Math.round(readyMb),
      '10 s later, MB': Math.round(readMemoryMb(daemon.pid, 'VmRSS')),
      'peak, MB': Math.round(readMemoryMb(daemon.pid, 'VmHWM')),
      'processor in 10 s idle, ms': readCpuMs(daemon.pid) - cpuMs,
      ...(await measureApplies(store, daemon)),
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
    automations: Array.from({ length: automations }, (_, number) => {
      const payload = { action: ['created', 'reopened'], issue: { level: { in: ['error', 'fatal'] } } };
      const filter = { webhook_ids: [uidAt(index, number % webhooks)], payload };
      const prompt = 'Triage this error. Say which change caused it.\nOpen a pull request that mends it.\n';
      const triggers = [{ provider: 'webhook' as const, event: 'received' as const, filter }];
      return { name: `automation-${number}`, enabled: true, prompt, triggers };
    }),
  };
}

/** Changes one factory after the other, and waits until the daemon serves the change. */
async function measureApplies({ appliedStates }: Store, { urlOf }: RunningDaemon) {
  const send = (uid: string) => post(urlOf(uid), { headers: {}, body: '{}' });
  const times: number[] = [];
  const waits: number[] = [];
  for (let index = 0; index < applies; index++) {
    const number = Math.floor((index * factories) / applies);
    const state = await appliedStates.read(`factory-${number}`);
    const uid = uidAt(number, `${state.serial} new`);
    await appliedStates.change(state.factory, async current => {
      const changed = current.webhooks.map((webhook, at) => (at === 0 ? { ...webhook, uid } : webhook));
      return { next: { ...current, webhooks: changed }, result: undefined };
    });
    const isServed = async () => {
      waits.push((await send(uidAt((number + 1) % factories, 1))).ms);
      return (await send(uid)).status !== 404;
    };
    times.push(await timeMs(() => until(1, isServed)));
    await delay(500);
  }
  return {
    'apply served, ms': round(median(times)),
    'slowest, ms': round(Math.max(...times)),
    'longest wait of others, ms': round(Math.max(...waits)),
  };
}

/** The time of the processor that a process used, in ms. The clock of the kernel ticks 100 times a second. */
function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
