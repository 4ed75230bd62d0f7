import { hash } from 'node:crypto';
import type { z } from 'zod';
import { type AppliedState, appliedStateShape, sourceShape } from './applied-state.ts';
import type { Commit } from './commit.ts';

/** The automations that judged a delivery. The delivery log keeps them, so that each verdict can be explained later. */
const automationsSnapshotShape = appliedStateShape.pick({
  factory: true,
  serial: true,
  source: true,
  automations: true,
});

export type AutomationsSnapshot = z.output<typeof automationsSnapshotShape>;

export interface StoredSnapshot {
  /** SHA-256 of `json`, under which the delivery log stores it. */
  readonly digest: string;
  readonly json: string;
  readonly commit: Commit | undefined;
}

export function createSnapshot(state: AppliedState): StoredSnapshot {
  const { factory, serial, source, automations } = state;
  const json = JSON.stringify({ factory, serial, source, automations } satisfies AutomationsSnapshot);
  return { digest: hash('sha256', json), json, commit: getCommit(state) };
}

export function parseSnapshot(json: string): AutomationsSnapshot {
  return automationsSnapshotShape.parse(JSON.parse(json));
}

/** Reads the commit from a snapshot's source, given as JSON text; undefined unless the source is a repository. */
export function parseSourceCommit(json: string | null | undefined): Commit | undefined {
  if (!json) return undefined;
  return getCommit({ source: sourceShape.nullable().parse(JSON.parse(json)) });
}

/** The commit that an applied state comes from, if its factory follows a branch. */
export function getCommit({ source }: Pick<AppliedState, 'source'>): Commit | undefined {
  if (source?.kind !== 'repository') return undefined;
  const { revision, author, subject, committedAt } = source;
  return { revision, author, subject, committedAt };
}
