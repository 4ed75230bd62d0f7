import { z } from 'zod';
import { managements, sourceShape } from '../applied-state.ts';
import { auditEntryShape } from '../audit-entry.ts';
import { commitShape } from '../commit.ts';
import { runnerKinds } from '../delivery.ts';
import { permissions } from '../grant.ts';
import { attentionAnswer } from './alerts.ts';
import { changeCounts, serial, time, uid } from './fields.ts';
import { outside } from './outside.ts';
import { diagnosticShape } from './problem-answer.ts';

const managedBy = z
  .enum(managements)
  .nullable()
  .describe(
    'Where webhooks and automations are managed; null while there are none, so they can be created here.',
  );
export const factoryAnswer = z.strictObject({
  factory: z.string(),
  managedBy,
  serial,
  webhooks: z.int(),
  automations: z.int(),
});
export const factoriesAnswer = z.strictObject({ factories: z.array(factoryAnswer) });
const count = z.int().nonnegative();
/** The daemon that answers, by its settings. */
export const daemonAnswer = z.strictObject({
  version: z.string(),
  startedAt: time,
  store: z.enum(['home', 'postgresql']),
  replicas: count.nullable().describe('The daemons that share the database; null if the store is a home.'),
  ingressUrl: z.string().describe('The public URL of the ingress.'),
  managementUrl: z
    .string()
    .nullable()
    .describe('The public URL of the management port; null if no setting gives it.'),
  runners: z
    .array(
      z.strictObject({
        name: z.string(),
        kind: z.enum(runnerKinds),
        concurrency: count.describe('Maximum number of runs that it executes at the same time.'),
      }),
    )
    .describe('The default runner first.'),
  limits: z.strictObject({
    bodyBytes: count.describe('Maximum size of a request body, in bytes.'),
    deliveriesPerMinute: count.describe('Authenticated deliveries per minute and webhook.'),
    apiRequestsPerMinute: count.describe('Requests to the management API per minute, of each caller.'),
    requestSeconds: z.number().describe('Time limit for a whole request to the ingress, in seconds.'),
  }),
  retention: z
    .strictObject({
      deliveries: count.describe('Number of newest deliveries that are kept of each webhook.'),
      days: count.describe('Number of days for which every delivery is kept.'),
    })
    .describe(
      'How long deliveries are kept, with their payloads and runs. One is removed only when neither setting keeps it.',
    ),
});
/** How the last reconciles of a factory that follows a branch ended. */
export const reconcileAnswer = z.strictObject({
  followed: z.strictObject({ repository: z.string(), branch: z.string(), path: z.string() }),
  suspendedAt: time.nullable(),
  tip: commitShape.nullable(),
  commitsBehind: z.int().nullable(),
  lastSuccess: z.strictObject({ at: time, tip: commitShape }).nullable(),
  lastFailure: z
    .strictObject({
      at: time,
      reason: z.string(),
      message: outside(z.string()),
      hint: z.string().optional(),
      tip: commitShape.nullable(),
      diagnostics: z.array(diagnosticShape),
    })
    .nullable(),
  failingSince: time.nullable(),
  askedAt: time
    .nullable()
    .describe('When somebody asked for a look at the branch; null: nobody has, or a daemon has looked.'),
  recent: z
    .array(
      z.strictObject({
        commit: commitShape,
        at: time.describe('When it was applied, or first refused.'),
        result: z
          .enum(['applied', 'refused', 'unchanged'])
          .describe('`unchanged`: it was applied already when hookmill began to remember commits.'),
        summary: changeCounts.nullable().describe('What it changed; null unless it was applied.'),
        reason: z.string().nullable().describe('Why it was refused, as `reason` of `lastFailure`.'),
        errors: z.int().describe('The errors in its definitions.'),
      }),
    )
    .describe('The last commits of the branch that were applied or refused, at most 10, newest first.'),
});
/** When the daemon was asked to look at the branch. */
export const reconcileAskedAnswer = z.strictObject({ askedAt: time });
/** Since when reconciling is suspended; null if it is not. */
export const suspendedAnswer = z.strictObject({ suspendedAt: time.nullable() });
const [dashboard, directory, repository] = sourceShape.options;
export const sourceAnswer = z.discriminatedUnion('kind', [
  dashboard,
  directory,
  repository.omit({ contentDigest: true }),
]);
export const statusAnswer = factoryAnswer.extend({
  permission: z.enum(permissions).describe("The caller's permission on the factory."),
  source: sourceAnswer.nullable(),
  revision: z.string().nullable(),
  appliedAt: time.nullable(),
  edited: z.boolean().describe('Whether someone edited the applied state by hand, or a disk damaged it.'),
  changedByHand: z
    .array(
      z.strictObject({
        at: time,
        webhook: z.strictObject({ name: z.string(), uid }),
        enabled: z.boolean().describe('What it is here.'),
        enabledInFile: z.boolean().describe('What it is in its definition file, as that was applied.'),
        who: auditEntryShape.shape.who
          .extend({ from: auditEntryShape.shape.from })
          .nullable()
          .describe('null: the caller may not read the audit log.'),
      }),
    )
    .describe(
      'Webhooks that were enabled or disabled since the definitions were applied; the next apply undoes that.',
    ),
  reconcile: reconcileAnswer
    .nullable()
    .describe('The last reconciles of a repository-backed factory; null for others.'),
  replicas: z
    .strictObject({
      alive: z.array(z.strictObject({ id: z.string(), startedAt: time, runs: z.int().nonnegative() })),
      standbyLagMs: z
        .number()
        .nullable()
        .describe('How far the slowest standby of the database is behind; null if unknown.'),
    })
    .nullable()
    .describe('The daemons that share a database; null if the store is a home.'),
  problem: z
    .strictObject({ message: z.string(), since: time })
    .nullable()
    .describe('Why the daemon does not serve a newer applied state.'),
  attention: z.array(attentionAnswer).describe('What needs attention, the worst first.'),
});
