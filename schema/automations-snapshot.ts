import { hash } from 'node:crypto';
import type { z } from 'zod';
import { type AppliedState, appliedStateShape } from './applied-state.ts';
import type { Commit } from './commit.ts';

/** The automations that deliveries were evaluated against: kept in the log, so that each verdict can be explained. */
export const automationsSnapshotShape = appliedStateShape.pick({
  factory: true,
  serial: true,
  source: true,
  automations: true,
});

export type AutomationsSnapshot = z.output<typeof automationsSnapshotShape>;

export interface KeptSnapshot {
  readonly digest: string;
  readonly json: string;
  readonly commit: Commit | undefined;
}

/** As it is kept, with the digest that it is kept under, and the commit that it comes from. */
export function snapshotOf(state: AppliedState): KeptSnapshot {
  const { factory, serial, source, automations } = state;
  const json = JSON.stringify({ factory, serial, source, automations } satisfies AutomationsSnapshot);
  return { digest: hash('sha256', json), json, commit: commitOf(state) };
}

export function parseSnapshot(json: string): AutomationsSnapshot {
  return automationsSnapshotShape.parse(JSON.parse(json));
}

/** The commit in force by the source of a snapshot, as JSON text; undefined unless that is a repository. */
export function commitOfSource(json: string | null | undefined): Commit | undefined {
  return json
    ? commitOf({ source: automationsSnapshotShape.shape.source.parse(JSON.parse(json)) })
    : undefined;
}

/** The commit that an applied state comes from, in a factory that follows a branch. */
export function commitOf({ source }: Pick<AppliedState, 'source'>): Commit | undefined {
  if (source?.kind !== 'repository') return undefined;
  const { revision, author, subject, committedAt } = source;
  return { revision, author, subject, committedAt };
}
