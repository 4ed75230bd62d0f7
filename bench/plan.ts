// Measures `hookmill plan` with its impact: the time of the process and its peak of memory, if every automation of a
// factory has a changed filter and is judged by large deliveries. Once with the deliveries of the log in all, and once
// with as many for each webhook, which reaches the bound on the bytes that a plan reads. The goal is at most 2 s and
// 300 MB for 20 webhooks, 100 automations and 200 deliveries of 256 KiB.
// Usage: npm run bench:plan [-- --webhooks 20 --automations 100 --deliveries 200 --kib 256 --rounds 5]
import { join } from 'node:path';
import { execa } from 'execa';
import { openDeliveryLog } from '../store/embedded/delivery-log/write/open-delivery-log.ts';
import { type BenchFactory, inTemporaryDirectory, openFactory } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { median } from './support/statistics.ts';

const { webhooks, automations, deliveries, kib, rounds } = parseNumbers({
  ...{ webhooks: 20, automations: 100 },
  ...{ deliveries: 200, kib: 256 },
  rounds: 5,
});
const bin = join(import.meta.dirname, '../cli/bin.js');
let recorded = 0;
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
  await recordDeliveries(factory, uids, Math.ceil(deliveries / webhooks));
  rows.push({ 'deliveries in the log': deliveries, ...(await measurePlan(directory)) });
  await recordDeliveries(factory, uids, deliveries);
  rows.push({ 'deliveries in the log': deliveries * (webhooks + 1), ...(await measurePlan(directory)) });
  console.table(rows);
});

function writeAutomations(factory: BenchFactory, uids: readonly string[], action: string): void {
  for (let index = 0; index < automations; index++) {
    const payload = {
      action: [action, `other-${index}`],
      items: { state: { in: ['failed'] }, weight: { not_in: [-1, index] } },
      sender: { bot: { exists: false } },
    };
    const filter = { webhook_ids: [uids[index % uids.length]], payload };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    factory.write(`automations/a-${index}.yaml`, JSON.stringify({ prompt: 'Look.', triggers }));
  }
}

async function recordDeliveries(
  { home }: BenchFactory,
  uids: readonly string[],
  each: number,
): Promise<void> {
  const atMs = Date.now();
  const log = await openDeliveryLog(join(home, 'deliveries.db'));
  for (const [number, uid] of uids.entries()) {
    for (let index = 0; index < each; index++) {
      recorded += 1;
      const id = `dlv_${recorded}`;
      await log.recordAccepted({
        ...{ id, factory: 'default', webhook: `w-${number}`, uid, authenticatedBy: 'token' },
        ...{ atMs, size: kib * 1024, payload: makePayload(index), headers: {}, runs: [] },
        ...{ identity: id, identitySource: 'body' as const },
      });
    }
  }
  await log.close();
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
  const times: number[] = [];
  const peaks: number[] = [];
  const cpuTimes: number[] = [];
  let judged = 0;
  for (let round = 0; round < rounds; round++) {
    const words = ['--import', report, bin, '-C', directory, 'plan', '-o', 'json'];
    const { durationMs, stdout, stderr } = await execa(process.execPath, words);
    times.push(durationMs);
    const [, peakKib, cpuUs] = /^used (\d+) (\d+)$/m.exec(stderr) ?? [];
    peaks.push(Number(peakKib) / 1024);
    cpuTimes.push(Number(cpuUs) / 1000);
    const { changes }: { changes: { impact?: { judged?: number } }[] } = JSON.parse(stdout);
    judged = changes.reduce((sum, { impact }) => sum + (impact?.judged ?? 0), 0);
  }
  return {
    'verdicts of automations': judged,
    ms: Math.round(median(times)),
    'slowest, ms': Math.round(Math.max(...times)),
    'of the processor, ms': Math.round(median(cpuTimes)),
    'peak, MiB': Math.round(Math.max(...peaks)),
  };
}
