import type { AppliedState } from '../schema/applied-state.ts';
import type { Impact } from '../schema/changes/impact.ts';
import type { Definitions } from '../sources/definitions.ts';
import { DeliveryLogError } from '../store/delivery-log-error.ts';
import type { Factory } from './factory.ts';
import { openHistory } from './history.ts';
import { findImpacts } from './impact.ts';
import type { Change } from './plan.ts';

export interface ReadImpacts {
  readonly impacts: ReadonlyMap<Change, Impact>;
  /** Why there are none, if the delivery log cannot be read. */
  readonly problem?: string;
}

/**
 * Reads the impact of each change from the delivery log. If the log cannot be read, there are none: the changes are
 * useful without them.
 */
export async function readImpacts(
  factory: Factory,
  changes: readonly Change[],
  before: AppliedState,
  after: Pick<Definitions, 'webhooks' | 'automations'>,
): Promise<ReadImpacts> {
  try {
    return { impacts: await findImpacts(changes, after, before, openHistory(factory)) };
  } catch (error) {
    if (!(error instanceof DeliveryLogError)) throw error;
    return { impacts: new Map(), problem: error.message };
  }
}
