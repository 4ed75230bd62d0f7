import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import type { AutomationImpact } from '../../schema/changes/plan-shapes.ts';
import type { AutomationDefinition, RunFlowKeys } from '../../schema/definitions/automation-definition.ts';
import { isFor } from '../../schema/definitions/judge-trigger.ts';
import { compileFilterIndex, type FilterMatcher } from '../../schema/filters/filter-index.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { type DeliveryHistory, type PastDelivery, pastBytesMax, pastDeliveriesMax } from './history.ts';
import { openRunCounter } from './run-flow.ts';

/** @limit Most deliveries with a changed verdict that a plan names: a reviewer looks at a few. */
const impactExamplesMax = 5;

/** Sees each payload that is read, its delivery, and the webhook that it came to. */
export interface PayloadObserver {
  /** Their webhooks are observed, besides the webhooks of the judged automations. */
  readonly automations: readonly AutomationDefinition[];
  readonly observe: (webhook: AppliedWebhook, payload: unknown, delivery: PastDelivery) => void;
}

/**
 * Judges the last accepted deliveries by the old and the new definition of each named automation, as the ingress would.
 * Each delivery is read and parsed once, and one payload is in memory at a time.
 */
export async function judgeAutomations(
  names: readonly string[],
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  history: DeliveryHistory,
  observer?: PayloadObserver,
): Promise<ReadonlyMap<string, AutomationImpact>> {
  const judged = new Set(names);
  const before = applied.automations.filter(({ name }) => judged.has(name));
  const after = desired.automations.filter(({ name }) => judged.has(name));
  const kept = new Set(desired.webhooks.filter(({ enabled }) => enabled).map(({ name }) => name));
  const [old, wanted] = [before, after].map(among => new Map(among.map(one => [one.name, one])));
  const tallies = new Map(names.map(name => [name, startTally(old?.get(name), wanted?.get(name))]));
  const listening = [...before, ...after, ...(observer?.automations ?? [])];
  const samples = await chooseSamples(listening, applied.webhooks, history);
  for (const webhook of applied.webhooks) {
    const startsBefore = compileStarts(webhook.enabled ? before : [], webhook.uid);
    const startsAfter = compileStarts(kept.has(webhook.name) ? after : [], webhook.uid);
    for (const { delivery, automations } of samples.get(webhook.uid) ?? []) {
      const read = await history.readPayload(delivery.id);
      if (!read) continue;
      const { payload } = read;
      observer?.observe(webhook, payload, delivery);
      const { headers } = delivery;
      const [started, starts] = [
        new Set(startsBefore(payload, headers)),
        new Set(startsAfter(payload, headers)),
      ];
      for (const name of automations) {
        tallies.get(name)?.add(delivery, payload, started.has(name), starts.has(name));
      }
    }
  }
  return new Map([...tallies].map(([name, tally]) => [name, tally.finish()]));
}

/** Compiles which of the automations a delivery to the webhook starts. */
export function compileStarts(automations: readonly AutomationDefinition[], uid: string): FilterMatcher {
  const filters = automations
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, triggers }) =>
      triggers
        .filter(trigger => isFor(trigger, uid))
        .map(({ filter }) => ({ name, filter: filter.payload, headers: filter.headers })),
    );
  return compileFilterIndex(filters);
}

/** A delivery, and the automations that are judged by it. */
interface Sample {
  readonly delivery: PastDelivery;
  readonly automations: Set<string>;
}

/**
 * Chooses for each automation the last deliveries of its webhooks together, and lists all of them by webhook. If they
 * have too many bytes, the newest of each webhook stay.
 */
async function chooseSamples(
  automations: readonly AutomationDefinition[],
  webhooks: readonly AppliedWebhook[],
  history: DeliveryHistory,
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const uidsOf = new Map<string, Set<string>>();
  for (const { name, triggers } of automations) {
    const uids = triggers.flatMap(({ filter }) => filter.webhook_ids);
    uidsOf.set(name, new Set([...(uidsOf.get(name) ?? []), ...uids]));
  }
  const selected = new Set([...uidsOf.values()].flatMap(uids => [...uids]));
  const samples = new Map<string, readonly Sample[]>();
  for (const webhook of webhooks.filter(({ uid }) => selected.has(uid))) {
    const deliveries = await history.listLastAccepted(webhook, pastDeliveriesMax);
    samples.set(
      webhook.uid,
      deliveries.map(delivery => ({ delivery, automations: new Set() })),
    );
  }
  // Most automations have the same webhooks as another.
  const newestOf = new Map<string, readonly Sample[]>();
  for (const [name, uids] of uidsOf) {
    const key = [...uids].sort().join();
    const newest = newestOf.get(key) ?? findNewest(uids, samples);
    newestOf.set(key, newest);
    for (const { automations } of newest) automations.add(name);
  }
  return boundBytes(samples);
}

function findNewest(
  uids: ReadonlySet<string>,
  samples: ReadonlyMap<string, readonly Sample[]>,
): readonly Sample[] {
  const all = [...uids].flatMap(uid => samples.get(uid) ?? []);
  return all.sort(byAge).slice(0, pastDeliveriesMax);
}

function byAge(a: Sample, b: Sample): number {
  return b.delivery.atMs - a.delivery.atMs;
}

/** Leaves out the oldest of each webhook as soon as all together have too many bytes. */
function boundBytes(samples: ReadonlyMap<string, readonly Sample[]>): ReadonlyMap<string, readonly Sample[]> {
  const ranked = [...samples.values()].flatMap(ofWebhook =>
    ofWebhook.filter(({ automations }) => automations.size > 0).map((sample, rank) => ({ sample, rank })),
  );
  const bounded = new Map<string, Sample[]>();
  let bytes = 0;
  for (const { sample } of ranked.sort((a, b) => a.rank - b.rank)) {
    bytes += sample.delivery.size;
    if (bytes > pastBytesMax) break;
    const { uid } = sample.delivery;
    const ofWebhook = bounded.get(uid) ?? [];
    ofWebhook.push(sample);
    bounded.set(uid, ofWebhook);
  }
  return bounded;
}

/** Counts the verdicts on one automation. */
function startTally(before: RunFlowKeys = {}, after: RunFlowKeys = {}) {
  let [judged, startedBefore, startedAfter] = [0, 0, 0];
  const [runsBefore, runsAfter] = [openRunCounter(before), openRunCounter(after)];
  const changed: { readonly delivery: PastDelivery; readonly starts: boolean }[] = [];
  return {
    add(delivery: PastDelivery, payload: unknown, started: boolean, starts: boolean): void {
      judged += 1;
      startedBefore += started ? 1 : 0;
      startedAfter += starts ? 1 : 0;
      if (started) runsBefore.add(delivery.atMs, payload);
      if (starts) runsAfter.add(delivery.atMs, payload);
      if (started !== starts) changed.push({ delivery, starts });
    },
    finish(): AutomationImpact {
      const examples = changed
        .sort((a, b) => b.delivery.atMs - a.delivery.atMs)
        .slice(0, impactExamplesMax)
        .map(({ delivery: { id: deliveryId, webhook }, starts }) => ({ deliveryId, webhook, starts }));
      const runs = { before: runsBefore.count(), after: runsAfter.count() };
      return {
        ...{ kind: 'automation', judged, startedBefore, startedAfter, runs },
        ...{ changed: changed.length, examples },
      };
    },
  };
}
