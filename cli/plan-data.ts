import { type Change, summarize } from '../reconcile/plan.ts';
import type { AppliedState } from '../schema/applied-state.ts';
import { ingressUrl } from './ingress-url.ts';

/** What `plan -o json` and `apply -o json` print. After an apply, new webhooks have their UIDs in `state`. */
export function planData(factory: string, baseUrl: string, state: AppliedState, changes: readonly Change[]) {
  return {
    factory,
    serial: state.serial,
    changes: changes.map(({ action, kind, name, uid, fields }) => {
      const webhook = kind === 'webhook' ? state.webhooks.find(webhook => webhook.name === name) : undefined;
      const url = webhook && ingressUrl(baseUrl, webhook);
      return { action, kind, name, uid: webhook?.uid ?? uid, url, fields };
    }),
    summary: summarize(changes),
  };
}
