import type { Impact } from '../../operations/impact.ts';
import { impactTrafficDays } from '../../operations/impact.ts';
import { type Change, summarize } from '../../operations/plan.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';

/**
 * What `plan -o json` and `apply -o json` print. After an apply, new webhooks have their UIDs in `state`. Before one,
 * `impacts` has what changes mean for senders and runs.
 */
export function planData(
  factory: string,
  baseUrl: string,
  state: AppliedState,
  changes: readonly Change[],
  impacts: ReadonlyMap<Change, Impact> = new Map(),
) {
  return {
    factory,
    serial: state.serial,
    changes: changes.map(change => {
      const { action, kind, name, uid, fields } = change;
      const webhook = kind === 'webhook' ? state.webhooks.find(webhook => webhook.name === name) : undefined;
      const url = webhook && renderIngressUrl(baseUrl, webhook);
      const impact = impactData(impacts.get(change));
      return { action, kind, name, uid: webhook?.uid ?? uid, url, fields, impact };
    }),
    summary: summarize(changes),
  };
}

function impactData(impact: Impact | undefined) {
  if (impact?.kind !== 'webhook') return impact;
  const { lastAtMs, accepted } = impact.traffic;
  const lastAcceptedAt = lastAtMs === undefined ? null : new Date(lastAtMs).toISOString();
  return { ...impact, traffic: { lastAcceptedAt, accepted, days: impactTrafficDays } };
}
