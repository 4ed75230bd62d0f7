import type { AppliedAutomation, AppliedState } from '../../schema/applied-state.ts';
import type { Impact } from '../../schema/changes/plan-shapes.ts';
import { describeRepeatedId } from '../../schema/clients/describe.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { compareNames } from '../../schema/names.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import { requirePinned } from '../checks/trigger-diagnostics.ts';
import type { Factory, OpenFactory } from '../factory.ts';
import { type Change, planAutomations } from '../plan/plan.ts';
import type { ChangeView } from '../views/plan-view.ts';
import { createEventIdReader, findRepeatedId } from './find-repeated-id.ts';
import { createWebhookObservers, type DeliveryHistory, openHistory } from './history.ts';
import { findImpacts } from './impact.ts';
import { findObservedWarnings } from './observed-warnings.ts';

export interface ReadImpacts {
  readonly impacts: ReadonlyMap<Change, Impact>;
  /** Warnings about filters that do not fit the stored deliveries, if they were asked for. */
  readonly warnings: readonly Diagnostic[];
  /** The reason why there are none, if the delivery log cannot be read. */
  readonly problem?: string;
}

/**
 * Reads the impact of each change from the delivery log. With `locate`, also judges by what was sent the filters of all
 * automations that are planned: each payload is read once for both. If the log cannot be read, there are none: the
 * changes are useful without them.
 */
export async function readImpacts(
  factory: Factory,
  changes: readonly Change[],
  applied: AppliedState,
  after: Pick<Definitions, 'webhooks' | 'automations'>,
  locate?: Definitions['locate'],
): Promise<ReadImpacts> {
  const before = withFormers(applied, changes, after);
  try {
    const history = openHistory(factory);
    if (!locate) return { impacts: await findImpacts(changes, after, before, history), warnings: [] };
    const planned = new Set(changes.flatMap(({ kind, name }) => (kind === 'automation' ? [name] : [])));
    const automations = after.automations.filter(({ name }) => planned.has(name));
    const { observe, observations } = createWebhookObservers(before.webhooks.length);
    const eventIds = createEventIdReader(history);
    const impacts = await findImpacts(changes, after, before, history, {
      automations,
      observe: (webhook, payload, delivery) => {
        observe(webhook, payload);
        eventIds.note(delivery, payload);
      },
    });
    const warnings = findObservedWarnings({ automations, locate }, observations, changes);
    warnings.push(...(await warnOfRepeatedIds(before, after, history, eventIds, locate)));
    return { impacts, warnings };
  } catch (error) {
    if (!(error instanceof DeliveryLogError)) throw error;
    return { impacts: new Map(), warnings: [], problem: error.message };
  }
}

/** Adds the webhooks that are restored, as if they had been disabled: the log has their deliveries. */
function withFormers(
  state: AppliedState,
  changes: readonly Change[],
  { webhooks }: Pick<Definitions, 'webhooks'>,
): AppliedState {
  const restored = changes.flatMap(({ name, former }) => {
    const wanted = former && webhooks.find(webhook => webhook.name === name);
    return wanted ? [{ ...wanted, uid: former.uid, enabled: false, credential: unset }] : [];
  });
  return { ...state, webhooks: [...state.webhooks, ...restored] };
}

const unset = { kind: 'unset' } as const;

/** Warns of webhooks whose sender seems to repeat events that only the hash of their body identifies. */
async function warnOfRepeatedIds(
  before: AppliedState,
  { webhooks }: Pick<Definitions, 'webhooks'>,
  history: DeliveryHistory,
  eventIds: ReturnType<typeof createEventIdReader>,
  locate: Definitions['locate'],
): Promise<Diagnostic[]> {
  const warnings: Diagnostic[] = [];
  for (const { name, deliveryIdHeader, deliveryIdField } of webhooks) {
    const applied = before.webhooks.find(webhook => webhook.name === name);
    if (!applied || (deliveryIdHeader ?? deliveryIdField) !== undefined) continue;
    const repeated = await findRepeatedId(applied, history, eventIds);
    if (!repeated) continue;
    const message = describeRepeatedId(repeated);
    const hint = `if ${repeated.field} is the ID of the event, add deliveryIdField: ${repeated.field}`;
    const place = locate('webhook', name, []);
    warnings.push({ code: 'webhook/identity-repeated', severity: 'warning', message, hint, ...place });
  }
  return warnings;
}

/**
 * Shows what creating the automation, or replacing the one of its name, would change. Nothing is written. Fails with
 * `request-invalid` if a trigger names an unknown webhook.
 */
export async function planAutomation(
  factory: OpenFactory,
  wanted: AppliedAutomation,
): Promise<{ readonly state: AppliedState; readonly change: ChangeView }> {
  const state = await factory.readState();
  const automation = requirePinned(state, wanted);
  const others = state.automations.filter(({ name }) => name !== automation.name);
  const automations = [...others, automation].sort(compareNames);
  const planned = planAutomations(automations, state).filter(({ name }) => name === automation.name);
  const { impacts } = await readImpacts(factory, planned, state, { webhooks: state.webhooks, automations });
  const [change] = planned.map(change => {
    const impact = impacts.get(change);
    return { ...change, ...(impact && { impact }) };
  });
  if (!change) throw new Error('an automation is planned, but has no change');
  return { state, change };
}
