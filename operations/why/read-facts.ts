import { Buffer } from 'node:buffer';
import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { type Outcome, outcomes } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { LoggedDelivery, Run } from '../../store/ports/delivery-log.ts';
import { requireNamedWebhook } from '../applied/require-applied.ts';
import type { OpenFactory } from '../factory.ts';
import { readWebhookHealth } from '../health/show-health.ts';
import { testFilter } from '../log/deliveries.ts';
import { requireDelivery, requireRun } from '../log/require-logged.ts';
import { readRunOutput } from '../log/runs.ts';
import type { FilterTestView } from '../views/delivery-views.ts';
import type { WhyFacts } from './why-facts.ts';

/** @limit Most automations whose filters an explanation tests: one cause is enough to act on. */
const testedMax = 3;
/** @limit Bytes at the end of a run's output that an explanation shows. */
const outputBytesMax = 2_048;
/** @limit Lines at the end of a run's output that an explanation shows. */
const outputLinesMax = 8;
/** @limit Failed runs of an automation among which an explanation looks for one that holds others. */
const failedRead = 100;

/**
 * Reads everything that explains the last request of a webhook, a delivery or a run. Fails with `webhook-unknown`,
 * `delivery-unknown` or `run-unknown`.
 */
export async function readFacts(
  factory: OpenFactory,
  subject: string,
  given: Pick<WhyFacts, 'permission' | 'daemonProblem'> & {
    readonly showUrl: (of: AppliedWebhook) => string;
  },
): Promise<WhyFacts> {
  const { showUrl, ...own } = given;
  const state = await factory.readState();
  const askedRun = subject.startsWith('run_') ? await requireRun(factory, subject) : undefined;
  const deliveryId = askedRun?.deliveryId ?? subject;
  const isOfDelivery = deliveryId.startsWith('dlv_');
  const asked = isOfDelivery ? await requireDelivery(factory, deliveryId) : undefined;
  const webhook = asked
    ? state.webhooks.find(({ uid }) => uid === asked.uid)
    : requireNamedWebhook(state, subject);
  const uid = asked?.uid ?? webhook?.uid ?? '';
  const last = asked ? new Map([[asked.outcome, asked]]) : await readLast(factory, uid);
  const listening = state.automations.filter(({ triggers }) =>
    triggers.some(({ filter }) => filter.webhook_ids.includes(uid)),
  );
  return {
    ...own,
    ...{ nowMs: factory.now().getTime(), webhook, isOfDelivery, last, listening },
    url: webhook ? showUrl(webhook) : '',
    ...(isOfDelivery ? { lastHour: [], lastDay: [], unknownUrls: 0 } : await readUnlogged(factory, uid)),
    silence: webhook?.enabled && !isOfDelivery ? await readSilence(factory, webhook) : undefined,
    ...(await readRuns(factory, last.get('Accepted') ?? last.get('Manual'), {
      listening,
      askedRun,
    })),
  };
}

async function readSilence(
  { name, store, now }: OpenFactory,
  webhook: AppliedWebhook,
): Promise<WhyFacts['silence']> {
  const health = await readWebhookHealth(store.deliveries, name, webhook, now().getTime());
  if (health.state !== 'quiet' || health.since === null) return undefined;
  return { sinceMs: Date.parse(health.since), reason: health.reason };
}

async function readLast(
  { name: factory, store }: OpenFactory,
  uid: string,
): Promise<ReadonlyMap<Outcome, LoggedDelivery>> {
  const filter = { factory, uid, limit: 1 };
  const rows = outcomes.map(outcome => store.deliveries.listDeliveries({ ...filter, outcome }));
  return new Map((await Promise.all(rows)).flat().map(row => [row.outcome, row]));
}

async function readUnlogged({ name: factory, store, now }: OpenFactory, uid: string) {
  const nowMs = now().getTime();
  const sum = (hours: number, of: { readonly factory: string; readonly uid: string }) =>
    store.deliveries.sumUnlogged({ ...of, sinceMs: nowMs - hours * hourMs });
  const [lastHour, lastDay, unknown] = await Promise.all([
    sum(1, { factory, uid }),
    sum(24, { factory, uid }),
    sum(24, { factory: '', uid: '' }),
  ]);
  return { lastHour, lastDay, unknownUrls: unknown.reduce((total, { count }) => total + count, 0) };
}

interface RunsRead {
  readonly listening: AppliedState['automations'];
  /** The one run that is asked about; by default, the newest of each automation. */
  readonly askedRun: Run | undefined;
}

async function readRuns(
  factory: OpenFactory,
  accepted: LoggedDelivery | undefined,
  { listening, askedRun }: RunsRead,
): Promise<Pick<WhyFacts, 'runs' | 'holding' | 'output' | 'tests'>> {
  if (!accepted) return { runs: [], output: [], tests: [] };
  const all = askedRun ? [askedRun] : await factory.store.deliveries.listRunsOfDelivery(accepted.id);
  const runs = [...new Map(all.map(run => [run.automation, run])).values()];
  const failed = runs.find(({ error }) => error !== undefined);
  const output = failed ? await readOutputEnd(factory, failed.id) : [];
  const tested = runs.length > 0 ? [] : listening.slice(0, testedMax);
  const tests: FilterTestView[] = [];
  for (const { name } of tested) tests.push(await testFilter(factory, name, { id: accepted.id }));
  return { runs, holding: await findHolding(factory, runs), output, tests };
}

async function findHolding(
  { name: factory, store }: OpenFactory,
  runs: readonly Run[],
): Promise<Run | undefined> {
  const held = runs.find(({ waitsFor }) => waitsFor === 'order');
  if (!held) return undefined;
  const { automation } = held;
  const failed = await store.deliveries.listRuns({ factory, automation, state: 'failed', limit: failedRead });
  return failed.find(({ holds, createdAtMs }) => holds && createdAtMs <= held.createdAtMs);
}

async function readOutputEnd(factory: OpenFactory, id: string): Promise<readonly string[]> {
  let end = Buffer.alloc(0);
  try {
    const { stream } = await readRunOutput(factory, id);
    for await (const chunk of stream) {
      end = Buffer.concat([end, Buffer.from(chunk)]).subarray(-outputBytesMax);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  const lines = end
    .toString('utf8')
    .split('\n')
    .filter(line => line.trim() !== '');
  return lines.slice(-outputLinesMax);
}
