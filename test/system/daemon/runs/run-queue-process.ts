import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { startRunQueue } from '../../../../daemon/runs/run-queue.ts';
import { openRunners } from '../../../../daemon/runs/runners/create-runner.ts';
import { settingsShape } from '../../../../daemon/settings.ts';
import { openStore } from '../../../../store/open-store.ts';
import { recordRuns } from './record-runs.ts';

// A process for a test to kill: its queue executes two runs of a command that never ends.
const [, , home = ''] = process.argv;
const { HOOKMILL_STORE: url } = process.env;
const store = await openStore({
  ...{ home, environment: process.env, postgres: url ? { url, mayLose: false } : undefined },
  ...{ lockTimeoutMs: 5_000, readsInThread: false, now: () => new Date() },
});
const source = `require('fs').writeFileSync('group', String(process.pid)); setInterval(() => {}, 1000)`;
const runner = { kind: 'command', argv: [process.execPath, '-e', source] };
const settings = settingsShape.parse({ runs: { runner } }).runs;

const deliveryLog = await store.openDeliveryLog();
const ids = await recordRuns(deliveryLog, { runs: 2 });
await startRunQueue({
  deliveryLog,
  store,
  runners: await openRunners(settings, { environment: process.env, store, deliveryLog, nowMs: Date.now }),
  findGone: async () => [],
  daemonId: randomUUID(),
  log: pino({ level: 'silent' }),
  observe: () => undefined,
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  random: Math.random,
});
process.stdout.write(JSON.stringify(ids));
