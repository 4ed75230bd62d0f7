import { z } from 'zod';

/** The kinds of actors: API tokens, people who signed in, workloads with a token of an issuer, users of a machine, and commits of the followed branch. */
const auditActorKinds = ['token', 'person', 'workload', 'user', 'commit'] as const;

/** A change, as the audit log keeps it. Its texts may be anything: escape them where they are shown. */
export const auditEntryShape = z.strictObject({
  at: z.iso.datetime(),
  who: z.strictObject({ kind: z.enum(auditActorKinds), name: z.string() }),
  from: z.string().describe('The client address, the machine, or the branch.'),
  operation: z.string().describe('The operation ID of the API, or a name of that kind.'),
  factory: z.string().nullable().describe('null: all factories.'),
  subject: z.string().describe('The changed thing, such as the name of a webhook.'),
  unfinished: z
    .literal(true)
    .optional()
    .describe('The change has begun, and its end is unknown: check whether it was made.'),
});

export type AuditEntry = z.output<typeof auditEntryShape>;
