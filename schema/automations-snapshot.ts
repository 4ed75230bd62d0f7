import { hash } from 'node:crypto';
import { z } from 'zod';
import { parseJsonText } from '../json/parse-json-text.ts';
import { type AppliedState, appliedStateShape } from './applied-state.ts';
import type { Commit } from './commit.ts';
import { runControlFields } from './definitions/automation-definition.ts';
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

/** The automations of a snapshot: their triggers, which may be thousands of filters, are not looked at. */
const recordedShape = z.object({
  automations: z.array(z.object({ name: z.string(), prompt: z.string(), ...runControlFields })),
});

/** An automation as it was when a run was recorded, without its triggers. */
export type RecordedAutomation = z.output<typeof recordedShape>['automations'][number];

/** Parses the automations of a snapshot, by their names. */
export function parseRecorded(json: string): ReadonlyMap<string, RecordedAutomation> {
  const { automations } = recordedShape.parse(parseJsonText(json));
  return new Map(automations.map(automation => [automation.name, automation]));
}
