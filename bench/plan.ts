// Measures `hookmill plan` with its impact: the time of the process and its peak of memory, if every automation of a
// factory has a changed filter and is judged by large deliveries. Once with the deliveries of the log in all, and once
// with as many for each webhook, which reaches the bound on the bytes that a plan reads. The goal is at most 2 s and
// 300 MB for 20 webhooks, 100 automations and 200 deliveries of 256 KiB.
// Usage: npm run bench:plan [-- --webhooks 20 --automations 100 --deliveries 200 --kib 256 --rounds 5]
import { execa } from 'execa';
import { acceptedDelivery } from '../test/support/deliveries.ts';
import { type BenchFactory, bin, inTemporaryDirectory, openFactory } from './support/factory.ts';
import { recordDeliveries } from './support/fill-log.ts';
import { parseOptions } from './support/options.ts';
import { median } from './support/statistics.ts';

const { webhooks, automations, deliveries, kib, rounds } = parseOptions({
  ...{ webhooks: 20, automations: 100 },
  ...{ deliveries: 200, kib: 256 },
  rounds: 5,
});
/** Prints the peak of memory and the time of the processor when the process ends. */
const report =
  'data:text/javascript,process.on("exit",()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();console.error("used",maxRSS,userCPUTime+systemCPUTime)})';

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  for (let index = 0; index < webhooks; index++) {
    factory.write(`webhooks/w-${index}.yaml`, 'secretName: BENCH\n');
  }
  await factory.hookmill('secrets', 'generate', 'BENCH');
  const uids = [...(await factory.apply()).values()];
  writeAutomations(factory, uids, 'opened');
  await factory.apply();
  writeAutomations(factory, uids, 'closed');
  const rows = [];
  let recorded = 0;
  for (const each of [Math.ceil(deliveries / webhooks), deliveries]) {
    const atMs = Date.now();
    await recordDeliveries(factory.log, each * webhooks, index => {
      const number = index % webhooks;
      const own = { webhook: `w-${number}`, uid: uids[number] ?? '' };
      return acceptedDelivery({ ...own, atMs, payload: makePayload(Math.floor(index / webhooks)) });
    });
    recorded += each * webhooks;
    rows.push({ 'deliveries in the log': recorded, ...(await measurePlan(directory)) });
  }
  console.table(rows);
});

function writeAutomations(factory: BenchFactory, uids: readonly string[], action: string): void {
  for (let index = 0; index < automations; index++) {
    const payload = {
      action: [action, `other-${index}`],
      items: { state: { in: ['failed'] }, weight: { not_in: [-1, index] } },
      sender: { bot: { exists: false } },
    };
    factory.writeAutomation(`a-${index}`, { webhook_ids: [uids[index % uids.length]], payload });
  }
}

/** A list of small objects, as large senders send them, of exactly the size. */
function makePayload(index: number): Uint8Array {
  const items = Array.from({ length: kib * 13 }, (_, item) => {
    return { id: item, state: item % 2 ? 'failed' : 'passed', weight: item / 4, note: 'some text about it' };
  });
  const payload = { action: index % 2 ? 'opened' : 'closed', sender: { login: 'someone' }, items };
  const text = JSON.stringify(payload);
  const missing = kib * 1024 - Buffer.byteLength(text) - ',"pad":""'.length;
  if (missing < 0) throw new Error(`the payload is ${-missing} bytes too long`);
  return Buffer.from(`${text.slice(0, -1)},"pad":"${'x'.repeat(missing)}"}`);
}

async function measurePlan(directory: string) {
  const runs = [];
  for (let round = 0; round < rounds; round++) {
    const words = ['--import', report, bin, '-C', directory, 'plan', '-o', 'json'];
    const { durationMs, stdout, stderr } = await execa(process.execPath, words);
    const [, peakKib, cpuUs] = /^used (\d+) (\d+)$/m.exec(stderr) ?? [];
    const { changes }: { changes: { impact?: { judged?: number } }[] } = JSON.parse(stdout);
    const judged = changes.reduce((sum, { impact }) => sum + (impact?.judged ?? 0), 0);
    runs.push({ durationMs, judged, peakMib: Number(peakKib) / 1024, cpuMs: Number(cpuUs) / 1000 });
  }
  return {
    'verdicts of automations': runs.at(-1)?.judged,
    ms: Math.round(median(runs.map(({ durationMs }) => durationMs))),
    'slowest, ms': Math.round(Math.max(...runs.map(({ durationMs }) => durationMs))),
    'of the processor, ms': Math.round(median(runs.map(({ cpuMs }) => cpuMs))),
    'peak, MiB': Math.round(Math.max(...runs.map(({ peakMib }) => peakMib))),
  };
}
