import { hash } from 'node:crypto';
import { z } from 'zod';
import { confirmationShape, fieldChangeShape } from '../../schema/changes/plan-shapes.ts';
import { toCanonicalJson } from '../../schema/text/json-text.ts';
import { type DefinitionKind, type Definitions, definitionKinds } from '../../sources/definitions.ts';
import type { Change } from './plan.ts';
import type { Planned } from './plan-definitions.ts';

const digest = z.hex().length(64);

/** A plan that `plan --out` writes. People review it, and `apply` compares with it. It contains no secret values. */
export const planFileShape = z.strictObject({
  formatVersion: z.literal(1),
  factory: z.string(),
  /** The serial of the applied state that was planned against. */
  serial: z.int().nonnegative(),
  appliedDigest: digest,
  definitions: z.array(z.strictObject({ kind: z.enum(definitionKinds), name: z.string(), digest })),
  /** A declared team secret without a value has no version. */
  secrets: z.array(z.strictObject({ name: z.string(), version: z.string().nullable() })),
  changes: z.array(
    z.strictObject({
      action: z.enum(['create', 'update', 'delete', 'no-op']),
      kind: z.enum(definitionKinds),
      name: z.string(),
      uid: z.string().optional(),
      fields: z.array(fieldChangeShape),
      confirmation: confirmationShape.optional(),
      restored: z.literal(true).optional(),
      notRestored: z.string().optional(),
      renamedTo: z.string().optional(),
      renamedFrom: z.string().optional(),
    }),
  ),
});

export type PlanFile = z.output<typeof planFileShape>;

export function makePlanFile(
  factory: string,
  definitions: Pick<Definitions, 'webhooks' | 'automations'>,
  { state, changes, secretVersions }: Planned,
): PlanFile {
  const digests = (kind: DefinitionKind, of: readonly { readonly name: string }[]) =>
    of.map(definition => ({ kind, name: definition.name, digest: digestValue(definition) }));
  return {
    formatVersion: 1,
    factory,
    serial: state.serial,
    appliedDigest: digestValue(state),
    definitions: [
      ...digests('webhook', definitions.webhooks),
      ...digests('automation', definitions.automations),
    ],
    secrets: [...secretVersions].map(([name, version]) => ({ name, version })),
    changes: changes.map(toPlainChange),
  };
}

/**
 * Describes what differs from the reviewed plan; empty if an apply would do exactly what the plan says. Each part is
 * only compared with a new plan: nothing is applied from the file itself.
 */
export function findOutdatedParts(reviewed: PlanFile, now: PlanFile): readonly string[] {
  if (reviewed.factory !== now.factory) {
    return [`the plan is for the factory ${reviewed.factory}, not for ${now.factory}`];
  }
  const outdated = [
    ...compareAppliedState(reviewed, now),
    ...compareEntries(reviewed.definitions, now.definitions, ({ kind, name }) => `the ${kind} ${name}`),
    ...compareEntries(reviewed.secrets, now.secrets, ({ name }) => `the team secret ${name}`),
  ];
  if (outdated.length > 0 || digestValue(reviewed.changes) === digestValue(now.changes)) return outdated;
  const cause =
    'the file was edited, another version of hookmill wrote it, a shared team secret has other uses, or a destroyed webhook can no longer be restored';
  return [`the planned changes differ: ${cause}`];
}

function compareAppliedState(reviewed: PlanFile, now: PlanFile): readonly string[] {
  if (reviewed.serial !== now.serial) {
    return [`the applied state is at serial ${now.serial}, the plan at ${reviewed.serial}`];
  }
  return reviewed.appliedDigest === now.appliedDigest ? [] : ['the applied state was edited by hand'];
}

function compareEntries<Entry>(
  reviewed: readonly Entry[],
  now: readonly Entry[],
  describe: (entry: Entry) => string,
): readonly string[] {
  const byName = (entries: readonly Entry[]) =>
    new Map(entries.map(entry => [describe(entry), digestValue(entry)]));
  const [before, after] = [byName(reviewed), byName(now)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(name => before.get(name) !== after.get(name))
    .map(name => {
      if (!after.has(name)) return `${name} was removed`;
      return before.has(name) ? `${name} changed` : `${name} was added`;
    });
}

/** Leaves out what is at the provider: it is learned at any time, and an apply does not change it. */
function toPlainChange({
  former,
  uid = former?.uid,
  fields,
  confirmation,
  atProvider: _,
  ...change
}: Change): PlanFile['changes'][number] {
  return {
    ...change,
    ...(uid !== undefined && { uid }),
    ...(former && { restored: true }),
    fields: [...fields],
    ...(confirmation && { confirmation }),
  };
}

function digestValue(value: unknown): string {
  return hash('sha256', toCanonicalJson({ value }));
}
