import { hash } from 'node:crypto';
import { z } from 'zod';
import { toCanonicalJson } from '../schema/canonical-json.ts';
import type { DefinitionKind, Definitions } from '../sources/definition-files.ts';
import type { Change } from './plan.ts';
import type { PlannedChanges } from './plan-factory.ts';

const digest = z.hex().length(64);

/** What `plan --out` writes for people and for `apply` to compare with. It holds no secret's value. */
export const planFileShape = z.strictObject({
  formatVersion: z.literal(1),
  factory: z.string(),
  /** Of the applied state that the plan starts from. */
  serial: z.int().nonnegative(),
  appliedDigest: digest,
  definitions: z.array(z.strictObject({ kind: z.enum(['webhook', 'automation']), name: z.string(), digest })),
  /** A declared team secret has no version. */
  secrets: z.array(z.strictObject({ name: z.string(), version: z.string().nullable() })),
  changes: z.array(
    z.strictObject({
      action: z.enum(['create', 'update', 'delete', 'no-op']),
      kind: z.enum(['webhook', 'automation']),
      name: z.string(),
      uid: z.string().optional(),
      fields: z.array(
        z.strictObject({ field: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }),
      ),
    }),
  ),
});

export type PlanFile = z.output<typeof planFileShape>;

export function planFileOf(
  factory: string,
  definitions: Pick<Definitions, 'webhooks' | 'automations'>,
  { state, changes, secretVersions }: PlannedChanges,
): PlanFile {
  const digests = (kind: DefinitionKind, of: readonly { readonly name: string }[]) =>
    of.map(definition => ({ kind, name: definition.name, digest: digestOf(definition) }));
  return {
    formatVersion: 1,
    factory,
    serial: state.serial,
    appliedDigest: digestOf(state),
    definitions: [
      ...digests('webhook', definitions.webhooks),
      ...digests('automation', definitions.automations),
    ],
    secrets: [...secretVersions].map(([name, version]) => ({ name, version })),
    changes: changes.map(plainChange),
  };
}

/**
 * What is no longer as it was reviewed, in sentences; nothing if an apply now does exactly what the plan says. Each
 * part is compared with what was computed anew, so that whatever the file says, nothing is ever done because of it.
 */
export function whatMoved(reviewed: PlanFile, now: PlanFile): readonly string[] {
  if (reviewed.factory !== now.factory) {
    return [`it is a plan for the factory ${reviewed.factory}, and this is ${now.factory}`];
  }
  const moved = [
    ...appliedStateMoved(reviewed, now),
    ...entriesMoved(reviewed.definitions, now.definitions, ({ kind, name }) => `the ${kind} ${name}`),
    ...entriesMoved(reviewed.secrets, now.secrets, ({ name }) => `the team secret ${name}`),
  ];
  if (moved.length > 0 || digestOf(reviewed.changes) === digestOf(now.changes)) return moved;
  return ['its changes are not those that were planned: the file was edited, or another hookmill wrote it'];
}

function appliedStateMoved(reviewed: PlanFile, now: PlanFile): readonly string[] {
  if (reviewed.serial !== now.serial) {
    return [`the applied state is at serial ${now.serial}, the plan was made at ${reviewed.serial}`];
  }
  return reviewed.appliedDigest === now.appliedDigest ? [] : ['the applied state was edited'];
}

function entriesMoved<Entry>(
  reviewed: readonly Entry[],
  now: readonly Entry[],
  nameOf: (entry: Entry) => string,
): readonly string[] {
  const byName = (entries: readonly Entry[]) =>
    new Map(entries.map(entry => [nameOf(entry), digestOf(entry)]));
  const [before, after] = [byName(reviewed), byName(now)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(name => before.get(name) !== after.get(name))
    .map(name => {
      if (!after.has(name)) return `${name} is gone`;
      return before.has(name) ? `${name} has changed` : `${name} is new`;
    });
}

function plainChange({ action, kind, name, uid, fields }: Change): PlanFile['changes'][number] {
  const plain = fields.map(({ field, before, after }) => ({ field, before, after }));
  return { action, kind, name, ...(uid === undefined ? {} : { uid }), fields: plain };
}

function digestOf(value: unknown): string {
  return hash('sha256', toCanonicalJson({ value }));
}
