import type { AppliedState } from '../schema/applied-state.ts';
import type { Impact } from '../schema/changes/impact.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import type { Definitions } from '../sources/definitions.ts';
import { DeliveryLogError } from '../store/delivery-log-error.ts';
import { findObservedWarnings } from './checks/observed-warnings.ts';
import type { Factory } from './factory.ts';
import { openHistory } from './history.ts';
import { findImpacts } from './impact.ts';
import { createWebhookObservers } from './observe-webhook.ts';
import type { Change } from './plan.ts';

export interface ReadImpacts {
  readonly impacts: ReadonlyMap<Change, Impact>;
  /** Warnings about filters that do not fit the stored deliveries, if they were asked for. */
  readonly warnings: readonly Diagnostic[];
  /** The reason why there are none, if the delivery log cannot be read. */
  readonly problem?: string;
}

/**
 * Reads the impact of each change from the delivery log. With `locate`, also judges all filters by what was sent: each
 * payload is read once for both. If the log cannot be read, there are none: the changes are
 * useful without them.
 */
export async function readImpacts(
  factory: Factory,
  changes: readonly Change[],
  before: AppliedState,
  after: Pick<Definitions, 'webhooks' | 'automations'>,
  locate?: Definitions['locate'],
): Promise<ReadImpacts> {
  try {
    const history = openHistory(factory);
    if (!locate) return { impacts: await findImpacts(changes, after, before, history), warnings: [] };
    const { automations } = after;
    const { observe, observations } = createWebhookObservers(before.webhooks.length);
    const impacts = await findImpacts(changes, after, before, history, { automations, observe });
    return { impacts, warnings: findObservedWarnings({ automations, locate }, observations, changes) };
  } catch (error) {
    if (!(error instanceof DeliveryLogError)) throw error;
    return { impacts: new Map(), warnings: [], problem: error.message };
  }
}
