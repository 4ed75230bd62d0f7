import type { z } from 'zod';
import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { createSnapshot } from '../../schema/automations-snapshot.ts';
import type { AutomationDefinition, Trigger } from '../../schema/definitions/automation-definition.ts';
import { isFor, judgeAutomation } from '../../schema/definitions/judge-trigger.ts';
import { pinWebhooks } from '../../schema/definitions/webhook-names.ts';
import { renderPathSegment } from '../../schema/field-path.ts';
import { findFilterWarnings } from '../../schema/filters/warnings/find-filter-warnings.ts';
import type { Permission } from '../../schema/grant.ts';
import type { EventHeaders } from '../../schema/headers.ts';
import type { Observation } from '../../schema/payloads/observation.ts';
import { listObservedPaths } from '../../schema/payloads/observed-paths.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { payloadsAnswer } from '../../schema/views/verdicts.ts';
import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import { requireAutomation, requireNamedWebhook } from '../applied/require-applied.ts';
import type { Factory, OpenFactory } from '../factory.ts';
import { observeWebhook, openHistory, pastBytesMax } from '../impact/history.ts';
import { judgeTriggerByObservation } from '../impact/observed-warnings.ts';
import {
  type DeliveryDetail,
  type DeliveryView,
  deliveryDetail,
  deliveryView,
  evaluateAutomations,
  type FilterTestView,
  previewOf,
  verdictView,
} from '../views/delivery-views.ts';
import { type ListPosition, type LogFilter, listRows, type NamedFactory, type Page } from './list-rows.ts';
import { requireDelivery, requirePayload } from './require-logged.ts';
import { makeRun } from './run-by-hand.ts';
import { viewRuns } from './run-limits.ts';
import { readTitles } from './titles.ts';

/**
 * Lists the factory's deliveries in the order of their commits; also deliveries of a webhook that no longer exists. Adds
 * summaries only if they are wanted. Fails with `webhook-unknown`, `automation-unknown` or `cursor-unknown`.
 */
export async function listDeliveries(
  named: NamedFactory,
  wanted: LogFilter & ListPosition & { readonly summary?: 'true' | undefined },
  permission: Permission,
): Promise<Page<DeliveryView>> {
  const { deliveries } = named.store;
  const page = await listRows(named, wanted, {
    kind: 'deliveries',
    find: id => deliveries.findDelivery(id),
    search: part => deliveries.searchDeliveries(part),
    view: row => deliveryView(row, permission),
  });
  return wanted.summary ? { ...page, rows: await addSummaries(page.rows, deliveries, permission) } : page;
}

async function addSummaries(
  rows: readonly DeliveryView[],
  deliveries: Pick<DeliveryLogReader, 'summarizeDeliveries'>,
  permission: Permission,
): Promise<DeliveryView[]> {
  const ids = rows.map(({ id }) => id);
  const titled = await readTitles(deliveries, ids, permission);
  return rows.map(row => {
    const found = titled.get(row.id);
    if (!found) return row;
    const { summary, title } = found;
    return { ...row, summary: { ...title, runs: summary.runs, preview: previewOf(summary) } };
  });
}

/** Shows everything about a delivery, with each automation's verdict. Fails with `delivery-unknown`. */
export async function showDelivery(
  factory: Factory,
  id: string,
  permission: Permission,
): Promise<DeliveryDetail> {
  const { deliveries } = factory.store;
  const delivery = await requireDelivery(factory, id);
  const [payload, snapshot, runs, titled] = await Promise.all([
    deliveries.readPayload(id),
    delivery.snapshot === undefined ? undefined : deliveries.readSnapshot(delivery.snapshot),
    deliveries.listRunsOfDelivery(id),
    readTitles(deliveries, [id], permission),
  ]);
  const { title, text } = titled.get(id)?.title ?? { title: delivery.outcome, text: null };
  const shown = await viewRuns(factory, runs);
  return deliveryDetail({ title: { title, text }, delivery, payload, snapshot, runs: shown }, permission);
}

/** Reads the payload as JSON. Fails with `delivery-unknown` or `payload-not-stored`. */
export async function readPayload(factory: Factory, id: string): Promise<Buffer> {
  return requirePayload(factory, await requireDelivery(factory, id));
}

/** Reads the stored body's exact bytes. Fails as `readPayload` does. */
export async function readStoredBody(
  factory: Factory,
  id: string,
): Promise<{ content: Buffer; isForm: boolean }> {
  const delivery = await requireDelivery(factory, id);
  const content = await requirePayload(factory, delivery, 'body');
  return { content, isForm: delivery.form !== undefined };
}

/**
 * Starts new runs for a stored delivery: of all automations that match it now, or of only one.
 * Fails with `delivery-unknown`, `payload-not-stored`, `automation-unknown`, `nothing-to-replay`, or `automation-disabled`
 * if only disabled automations match.
 */
export async function replayDelivery(
  factory: OpenFactory,
  id: string,
  only: string | undefined,
): Promise<{ readonly id: string; readonly automation: string }[]> {
  const delivery = await requireDelivery(factory, id);
  const payload: unknown = parseJsonText((await requirePayload(factory, delivery)).toString('utf8'));
  const state = await factory.readState();
  const requested = only === undefined ? undefined : requireAutomation(state, only);
  const { automations } = evaluateAutomations(state, delivery, payload);
  const wanted = automations.filter(({ automation }) => only === undefined || automation === only);
  const starting = wanted.filter(({ wouldTrigger }) => wouldTrigger);
  if (starting.length === 0) throw refuseReplay(id, requested?.name, wanted);
  const nowMs = factory.now().getTime();
  const runs = starting.map(({ automation }) =>
    makeRun(factory, requireAutomation(state, automation), payload, nowMs),
  );
  const appliedState = createSnapshot(state);
  const replayed = await factory.useDeliveryLog(log =>
    log.replay({ deliveryId: id, runs, appliedState, nowMs }),
  );
  if (!replayed) {
    const detail = `the delivery ${id} was removed from the log meanwhile`;
    throw new Refusal('delivery-unknown', { detail });
  }
  return runs.map(({ id, automation }) => ({ id, automation }));
}

/** Says why a replay would start nothing: which automations would match if they were enabled, or that none does. */
function refuseReplay(
  id: string,
  requested: string | undefined,
  verdicts: ReturnType<typeof evaluateAutomations>['automations'],
): Refusal {
  const matching = verdicts.filter(({ triggers }) => triggers.some(({ wouldTrigger }) => wouldTrigger));
  if (matching.length > 0) {
    const names = matching.map(({ automation }) => automation).join(', ');
    const [are, them] =
      matching.length === 1 ? [`automation ${names} is`, 'it'] : [`automations ${names} are`, 'them'];
    const detail = `the ${are} disabled, so a replay of ${id} starts no run; enable ${them} first`;
    return new Refusal('automation-disabled', { detail });
  }
  const subject =
    requested === undefined ? 'no automation matches' : `the automation ${requested} does not match`;
  return new Refusal('nothing-to-replay', { detail: `${subject} the delivery ${id}` });
}

/** The name of an applied automation, or a draft. */
export type TestedAutomation = string | Pick<AutomationDefinition, 'name' | 'enabled' | 'triggers'>;

/** A stored delivery by its id, or a payload with event headers, for which the webhook is not checked. */
export type TestedDelivery =
  | { readonly id: string }
  | { readonly payload: unknown; readonly headers?: EventHeaders | undefined };

/** @limit Most bytes of stored deliveries by which a filter's test also judges the filter (8 MiB): an editor asks after each pause in typing. */
export const testedBytesMax = 8 * 1024 * 1024;

/**
 * Tests whether a delivery would start a run of an automation, and why. Also warns about filters that are suspicious by
 * themselves, or that the last deliveries do not fit.
 * Fails with `automation-unknown`, `delivery-unknown` or `payload-not-stored`.
 */
export async function testFilter(
  factory: OpenFactory,
  tested: TestedAutomation,
  delivery: TestedDelivery,
): Promise<FilterTestView> {
  const state = await factory.readState();
  const automation = findTested(state, tested);
  const warnings = await findFilterTestWarnings(factory, state, automation.triggers);
  if ('payload' in delivery) return { ...verdictView(judgeAutomation(automation, delivery)), warnings };
  const stored = await requireDelivery(factory, delivery.id);
  const payload = await requirePayload(factory, stored);
  const { uid: webhookUid, headers } = stored;
  const judged = { webhookUid, headers, payload: parseJsonText(payload.toString('utf8')) as unknown };
  return { ...verdictView(judgeAutomation(automation, judged)), warnings };
}

/** The applied automation, or the draft with the UIDs of its webhooks. Fails with `automation-unknown`. */
export function findTested(state: AppliedState, tested: TestedAutomation): AutomationDefinition {
  if (typeof tested === 'string') return requireAutomation(state, tested);
  return pinWebhooks({ prompt: '', ...tested }, state.webhooks);
}

/** Warns about the filters of triggers. If the delivery log cannot be read, judges only the filters themselves. */
export async function findFilterTestWarnings(
  factory: OpenFactory,
  { webhooks }: Pick<AppliedState, 'webhooks'>,
  triggers: readonly Pick<Trigger, 'filter'>[],
): Promise<FilterTestView['warnings']> {
  const history = openHistory(factory);
  const observations = new Map<string, Observation>();
  for (const webhook of webhooks) {
    if (!triggers.some(trigger => trigger.filter.payload && isFor(trigger, webhook.uid))) continue;
    try {
      observations.set(webhook.uid, await observeWebhook(history, webhook, testedBytesMax));
    } catch (error) {
      if (!(error instanceof DeliveryLogError)) throw error;
    }
  }
  return warnOfFilters(triggers, uid => observations.get(uid));
}

/** Warns about the filters of triggers, also by what was observed of their webhooks. */
export function warnOfFilters(
  triggers: readonly Pick<Trigger, 'filter'>[],
  observations: (uid: string) => Observation | undefined,
): FilterTestView['warnings'] {
  return triggers.flatMap((trigger, index) => {
    const found = [
      ...findFilterWarnings(trigger.filter.payload ?? {}),
      ...judgeTriggerByObservation(trigger, observations),
    ];
    return found.map(({ code, path, message, hint }) => {
      const keys = path.map(key => (typeof key === 'number' ? `[${key}]` : renderPathSegment(key)));
      return { trigger: index, code, path: `$${keys.join('')}`, message, hint };
    });
  });
}

export type PayloadsView = z.output<typeof payloadsAnswer>;

/** Describes the payloads of a webhook's last accepted deliveries, by its UID or name. Fails with `webhook-unknown`. */
export async function describePayloads(factory: OpenFactory, uidOrName: string): Promise<PayloadsView> {
  const webhook = requireNamedWebhook(await factory.readState(), uidOrName);
  const observation = await observeWebhook(openHistory(factory), webhook, pastBytesMax);
  return { webhook: webhook.name, uid: webhook.uid, ...listObservedPaths(observation) };
}
