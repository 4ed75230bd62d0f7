import { hash } from 'node:crypto';
import type { z } from 'zod';
import { parseJsonText } from '../json/parse-json-text.ts';
import { type AppliedState, appliedStateShape } from './applied-state.ts';
import type { Commit } from './commit.ts';
import { getCommit } from './source-commit.ts';

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
  return automationsSnapshotShape.parse(parseJsonText(json));
}
