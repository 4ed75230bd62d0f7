import { Buffer } from 'node:buffer';
import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { listListeners } from '../../schema/definitions/judge-trigger.ts';
import { type Outcome, outcomes } from '../../schema/delivery.ts';
import { resolveIssuer } from '../../schema/oidc/issuers.ts';
import { Refusal } from '../../schema/refusal.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { StoredIssuer } from '../../store/ports/daemon-records.ts';
import type { LoggedDelivery, Pause, Run } from '../../store/ports/delivery-log.ts';
import type { ReconcileStatus } from '../../store/ports/reconcile-statuses.ts';
import { requireNamedWebhook } from '../applied/require-applied.ts';
import { findManagement, isSwitchedByHand } from '../applied-source.ts';
import { listAlertsAbout } from '../attention/list-attention.ts';
import { judgeSender } from '../checks/judge-sender.ts';
import type { OpenFactory } from '../factory.ts';
import { readOverlap } from '../health/judge-overlap.ts';
import { readWebhookHealth } from '../health/show-health.ts';
import { findRepeatedId } from '../impact/find-repeated-id.ts';
import { openHistory } from '../impact/history.ts';
import { findFilterTestWarnings, readPayload } from '../log/deliveries.ts';
import { requireDelivery, requireRun } from '../log/require-logged.ts';
import { readRunOutput } from '../log/runs.ts';
import { evaluateAutomations, type VerdictView } from '../views/delivery-views.ts';
import { findFailedClauses } from './judge-starts.ts';
import type { WhyFacts } from './why-facts.ts';

/** @limit Most automations whose verdicts an explanation names: the nearest to a match. */
const verdictsMax = 20;
/** @limit Newest successful runs of an automation that say how long one usually takes. */
const usualRuns = 20;
/** @limit Fewest successful runs of an automation that say how long one usually takes. */
const usualRunsMin = 3;
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
    : await requireNamed(factory, state, subject);
  const uid = asked?.uid ?? webhook?.uid ?? '';
  const last = asked ? new Map([[asked.outcome, asked]]) : await readLast(factory, uid);
  const listening = listListeners(state.automations, uid);
  return {
    ...own,
    ...{ nowMs: factory.now().getTime(), webhook, isOfDelivery, last, listening },
    url: webhook ? showUrl(webhook) : '',
    management: findManagement(state),
    isDisabledByHand: webhook !== undefined && !webhook.enabled && isSwitchedByHand(state, webhook),
    attention: await listAlertsAbout(factory.store, factory.name, {
      uid: askedRun ? undefined : uid,
      automations: askedRun ? [askedRun.automation] : listening.map(({ name }) => name),
    }),
    issuer: webhook && (await readIssuer(factory, webhook)),
    ...(isOfDelivery ? { lastHour: [], lastDay: [], unknownUrls: 0 } : await readUnlogged(factory, uid)),
    silence: webhook?.enabled && !isOfDelivery ? await readSilence(factory, webhook) : undefined,
    atProvider: webhook && !isOfDelivery ? await readAtProvider(factory, webhook, state) : undefined,
    overlap: webhook && !isOfDelivery ? await readWebhookOverlap(factory, webhook) : undefined,
    repeatedId: webhook && !isOfDelivery ? await findRepeatedId(webhook, openHistory(factory)) : undefined,
    ...(await readRuns(factory, last.get('Accepted') ?? last.get('Manual'), {
      state,
      listening,
      askedRun,
    })),
  };
}

/** Finds the webhook. If it is unknown, the refusal says why the branch that may define it is not applied. */
async function requireNamed({ name, store }: OpenFactory, state: AppliedState, subject: string) {
  try {
    return requireNamedWebhook(state, subject);
  } catch (error) {
    const text = error instanceof Refusal && describeUnapplied(await store.reconcileStatuses.read(name));
    if (!text) throw error;
    const { code, message } = error;
    throw new Refusal(code, { detail: message, instead: { text } }, { cause: error });
  }
}

/** Says what keeps the newest commit of the followed branch from being applied; undefined if nothing does. */
function describeUnapplied(status: ReconcileStatus): string | undefined {
  const { followed, suspendedAt, failingSince, lastFailure } = status;
  const reasons = [
    ...(suspendedAt === null
      ? []
      : [`the branch is suspended since ${suspendedAt}, until \`hookmill reconcile resume\``]),
    ...(failingSince === null || !lastFailure
      ? []
      : [`its newest commit is not applied: ${lastFailure.message} (\`hookmill status\` shows where)`]),
  ];
  return followed && reasons.length > 0 ? reasons.join('; ') : undefined;
}

async function readIssuer(
  { store }: OpenFactory,
  { issuer }: AppliedWebhook,
): Promise<StoredIssuer | undefined> {
  if (issuer === undefined) return undefined;
  const { issuers } = await store.issuerKeys.read();
  return issuers.find(known => known.issuer === resolveIssuer(issuer));
}

/** Judges what is known of the provider's hook; what the log says of requests, other steps judge. */
async function readAtProvider(
  { name, store }: OpenFactory,
  { sender, ...webhook }: AppliedWebhook,
  { automations }: AppliedState,
): Promise<WhyFacts['atProvider']> {
  const { uid } = webhook;
  const state = sender && (await store.senderStates.read(name)).find(known => known.uid === uid);
  if (!sender || !state?.checked) return undefined;
  const url = state.checked.hooks[0]?.url ?? '';
  const findings = judgeSender({ webhook: { ...webhook, sender }, uid, url, automations, state });
  return { checkedMs: Date.parse(state.checked.at), findings, missed: state.missed };
}

function readWebhookOverlap({ name, store, now }: OpenFactory, webhook: AppliedWebhook) {
  return readOverlap(store.deliveries, name, webhook, now().getTime());
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
  readonly state: AppliedState;
  readonly listening: AppliedState['automations'];
  /** The one run that is asked about; by default, the newest of each automation. */
  readonly askedRun: Run | undefined;
}

async function readRuns(
  factory: OpenFactory,
  accepted: LoggedDelivery | undefined,
  { state, listening, askedRun }: RunsRead,
): Promise<
  Pick<
    WhyFacts,
    'runs' | 'offered' | 'holding' | 'pause' | 'ahead' | 'output' | 'verdicts' | 'warnings' | 'usualMs'
  >
> {
  if (!accepted) return { runs: [], offered: [], output: [], verdicts: [], warnings: [] };
  const all = askedRun ? [askedRun] : await factory.store.deliveries.listRunsOfDelivery(accepted.id);
  const runs = [...new Map(all.map(run => [run.automation, run])).values()];
  const failed = runs.find(({ error }) => error !== undefined);
  const output = failed ? await readOutputEnd(factory, failed.id) : [];
  const verdicts =
    runs.length > 0 || listening.length === 0 ? [] : await judgeNearest(factory, state, accepted);
  const nearest = listening.find(({ name }) => name === verdicts[0]?.automation);
  const warnings = nearest ? await findFilterTestWarnings(factory, state, nearest.triggers) : [];
  const running = runs.find(({ state }) => state === 'running');
  const usualMs = running && (await readUsualMs(factory, running.automation));
  const [holding, pause, ahead] = await Promise.all([
    findHolding(factory, runs),
    findPause(factory, runs),
    findAhead(factory, runs),
  ]);
  const offered = (await factory.store.offeredRunners.read()).map(({ name }) => name);
  return { runs, offered, holding, pause, ahead, output, verdicts, warnings, usualMs };
}

/** Judges the automations that listen now: those that are enabled first, then the nearest to a match. */
async function judgeNearest(
  factory: OpenFactory,
  state: AppliedState,
  accepted: LoggedDelivery,
): Promise<VerdictView[]> {
  const payload: unknown = parseJsonText((await readPayload(factory, accepted.id)).toString('utf8'));
  const { automations } = evaluateAutomations(state, accepted, payload);
  const distance = (verdict: VerdictView) => findFailedClauses(verdict).length;
  return automations
    .toSorted((a, b) => Number(b.enabled) - Number(a.enabled) || distance(a) - distance(b))
    .slice(0, verdictsMax);
}

/** The median of what the newest successful runs took; undefined with too few of them. */
async function readUsualMs(
  { name: factory, store }: OpenFactory,
  automation: string,
): Promise<number | undefined> {
  const filter = { factory, automation, state: 'succeeded', limit: usualRuns } as const;
  const runs = await store.deliveries.listRuns(filter);
  const took = runs.flatMap(({ startedAtMs, finishedAtMs }) =>
    startedAtMs !== undefined && finishedAtMs !== undefined ? [finishedAtMs - startedAtMs] : [],
  );
  if (took.length < usualRunsMin) return undefined;
  return took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)];
}

async function findPause(
  { name: factory, store, now }: OpenFactory,
  runs: readonly Run[],
): Promise<Pause | undefined> {
  const waiting = runs.find(({ waitsFor }) => waitsFor === 'paused');
  if (!waiting) return undefined;
  const pauses = await store.deliveries.listPauses({ factory, nowMs: now().getTime() });
  return pauses.find(({ automation }) => automation === waiting.automation);
}

/** The run at work that a run waits for: of its lane if that is known, or else the oldest of its automation. */
async function findAhead(
  { name: factory, store }: OpenFactory,
  runs: readonly Run[],
): Promise<Run | undefined> {
  const waiting = runs.find(({ waitsFor }) => waitsFor === 'order' || waitsFor === 'limit');
  if (!waiting) return undefined;
  const of = { factory, automation: waiting.automation, state: 'running', limit: failedRead } as const;
  const running = await store.deliveries.listRuns(of);
  return running.findLast(({ lane }) => lane === waiting.lane) ?? running.at(-1);
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
