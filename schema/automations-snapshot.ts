import { hash } from 'node:crypto';
import type { z } from 'zod';
import { type AppliedState, appliedStateShape } from './applied-state.ts';

/** The automations that deliveries were evaluated against: kept in the log, so that each verdict can be explained. */
export const automationsSnapshotShape = appliedStateShape.pick({
  factory: true,
  serial: true,
  source: true,
  automations: true,
});

export type AutomationsSnapshot = z.output<typeof automationsSnapshotShape>;

/** As it is kept, with the digest that it is kept under. */
export function snapshotOf(state: AppliedState): { readonly digest: string; readonly json: string } {
  const { factory, serial, source, automations } = state;
  const json = JSON.stringify({ factory, serial, source, automations } satisfies AutomationsSnapshot);
  return { digest: hash('sha256', json), json };
}

export function parseSnapshot(json: string): AutomationsSnapshot {
  return automationsSnapshotShape.parse(JSON.parse(json));
}
