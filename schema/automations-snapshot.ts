import { hash } from 'node:crypto';
import { z } from 'zod';
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

/** The prompts of a snapshot: all else of it, which may be thousands of filters, is not looked at. */
const promptsShape = z.object({ automations: z.array(z.object({ name: z.string(), prompt: z.string() })) });

/** Finds the prompt of an automation in a snapshot; undefined if it has no such automation. */
export function findPrompt(json: string, automation: string): string | undefined {
  const { automations } = promptsShape.parse(parseJsonText(json));
  return automations.find(({ name }) => name === automation)?.prompt;
}
