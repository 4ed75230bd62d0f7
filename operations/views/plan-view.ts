import type { AppliedState } from '../../schema/applied-state.ts';
import type { Impact } from '../../schema/changes/plan-shapes.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { type Change, type Summary, summarize } from '../plan/plan.ts';

/** A plan as it is shown. */
export interface PlanView {
  readonly factory: string;
  /** The serial of the applied state: the new one after an apply. */
  readonly serial: number;
  /** The applied commit, and the branch that it was read from; null if the definitions come from no repository. */
  readonly base: { readonly revision: string; readonly branch: string } | null;
  /** The commit of that branch with which a work tree was merged for the plan. */
  readonly mergedWith?: string;
  readonly changes: readonly ChangeView[];
  readonly summary: Summary;
}

export interface ChangeView extends Omit<Change, 'former'> {
  readonly url?: string;
  /** The webhook gets the UID and the URL that it had before it was destroyed. */
  readonly restored?: true;
  readonly impact?: Impact;
}

/** The changes with their URLs and impacts. After an apply, `state` has the UIDs of new webhooks. */
export function planView(
  state: AppliedState,
  changes: readonly Change[],
  baseUrl: string,
  impacts: ReadonlyMap<Change, Impact> = new Map(),
): PlanView {
  const { factory, serial, source } = state;
  const base = source?.kind === 'repository' ? { revision: source.revision, branch: source.branch } : null;
  return {
    ...{ factory, serial, base },
    changes: changes.map(change => {
      const { action, kind, name, fields, former, notRestored, confirmation, atProvider } = change;
      const { renamedTo, renamedFrom } = change;
      const applied = kind === 'webhook' ? state.webhooks.find(webhook => webhook.name === name) : undefined;
      const webhook = applied ?? former;
      const uid = webhook?.uid ?? change.uid;
      const impact = impacts.get(change);
      return {
        ...{ action, kind, name },
        ...(uid !== undefined && { uid }),
        ...(webhook && { url: renderIngressUrl(baseUrl, webhook) }),
        fields,
        ...(former && { restored: true }),
        ...(notRestored !== undefined && { notRestored }),
        ...(confirmation && { confirmation }),
        ...(renamedTo !== undefined && { renamedTo }),
        ...(renamedFrom !== undefined && { renamedFrom }),
        ...(atProvider && { atProvider: [...atProvider] }),
        ...(impact && { impact }),
      };
    }),
    summary: summarize(changes),
  };
}
