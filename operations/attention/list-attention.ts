import type { z } from 'zod';
import type { statusAnswer } from '../../schema/views/factories.ts';
import type { Store } from '../../store/ports/store.ts';
import { type Drift, findDrift } from '../views/reconcile-view.ts';
import { type Attention, listOpenAlerts, sortWorstFirst } from './alerts.ts';
import { nameUndoing } from './remedies.ts';

/** The status of a factory, by which `listAttention` finds what no alert tells yet. */
export type FactoryFacts = Omit<z.output<typeof statusAnswer>, 'attention' | 'permission'>;

/** Lists what needs attention in a factory, the worst first: its open alerts, and what no alert tells yet. */
export async function listAttention(store: Pick<Store, 'alerts'>, facts: FactoryFacts): Promise<Attention[]> {
  const alerts = await listAlertsOf(store, facts.factory);
  const isTold = alerts.some(({ type }) => type === 'reconcile.failing');
  const own = [findUnserved(facts), isTold ? undefined : findFailingBranch(facts), findDrifted(facts)];
  return sortWorstFirst([...alerts, ...own.filter(found => found !== undefined)]);
}

/** Lists the open alerts of a factory about a webhook or one of these automations, the worst first. */
export async function listAlertsAbout(
  store: Pick<Store, 'alerts'>,
  factory: string,
  { uid, automations }: { readonly uid?: string | undefined; readonly automations: readonly string[] },
): Promise<Attention[]> {
  const alerts = await listAlertsOf(store, factory);
  return alerts.filter(({ webhook, automation }) =>
    webhook ? webhook.uid === uid : automation !== null && automations.includes(automation),
  );
}

async function listAlertsOf(store: Pick<Store, 'alerts'>, factory: string): Promise<Attention[]> {
  const alerts = await listOpenAlerts(store, [factory]);
  return alerts.map(({ factory: _, status: __, until: ___, ...alert }) => alert);
}

function findUnserved({ problem }: FactoryFacts): Attention | undefined {
  if (!problem) return undefined;
  const remedy = 'The log of the daemon says more.';
  return toAttention('state.unserved', { reason: problem.message, since: problem.since, remedy });
}

/** A branch that is suspended should not be applied. */
function findFailingBranch({ reconcile }: FactoryFacts): Attention | undefined {
  if (!reconcile || reconcile.suspendedAt !== null || reconcile.failingSince === null) return undefined;
  const { failingSince: since, lastFailure } = reconcile;
  const remedy = lastFailure?.hint ?? 'Run `hookmill status`: it says at which commit and why.';
  return toAttention('reconcile.failing', { reason: lastFailure?.message ?? '', since, remedy });
}

const drifts: Readonly<Record<Drift, string>> = {
  edited: 'someone edited the applied state by hand, or a disk damaged it',
  'work-tree': 'a work tree was applied instead of the branch',
  'other-branch': 'the applied state comes from another branch, path or repository',
};

/** Describes how the applied state differs from the definition files; undefined if it does not. */
function findDrifted({
  source,
  edited,
  reconcile,
  changedByHand,
  managedBy,
}: FactoryFacts): Attention | undefined {
  const found = reconcile ? findDrift(source, edited, reconcile) : edited ? 'edited' : null;
  const byHand = changedByHand.map(({ webhook, enabled, enabledInFile, who }) => {
    const by = who ? ` by ${who.kind === 'token' ? 'the API token ' : ''}${who.name} from ${who.from}` : '';
    return `${webhook.name} was ${say(enabled)}${by}, and is ${say(enabledInFile)} in its file`;
  });
  const reasons = [...(found ? [drifts[found]] : []), ...byHand];
  if (reasons.length === 0) return undefined;
  const undoing = found && reconcile ? 'reconcile' : nameUndoing(managedBy);
  return toAttention('drift', {
    reason: reasons.join('; '),
    since: changedByHand[0]?.at ?? null,
    remedy: `The next ${undoing} undoes that.`,
  });
}

function say(isEnabled: boolean): string {
  return isEnabled ? 'enabled' : 'disabled';
}

function toAttention(
  type: Attention['type'],
  said: Pick<Attention, 'reason' | 'since' | 'remedy'>,
): Attention {
  const subject = { webhook: null, automation: null, run: null };
  return { id: null, type, ...subject, ...said, acknowledged: null, muted: null };
}
