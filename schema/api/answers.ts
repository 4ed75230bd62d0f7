// The answers of the management API, and the parts that they share. Only fields marked `optional()` may be absent.
import { z } from 'zod';
import { alertTypes, attentionKinds, receiverFormats } from '../alerts.ts';
import { managements, sourceShape } from '../applied-state.ts';
import { auditEntryShape } from '../audit-entry.ts';
import { confirmationShape, fieldChangeShape, impactShape } from '../changes/plan-shapes.ts';
import { commitShape } from '../commit.ts';
import { senderProviders } from '../definitions/sender-keys.ts';
import {
  endStates,
  identitySources,
  manualUid,
  outcomes,
  runnerKinds,
  runStates,
  runWaits,
  unloggedReasons,
} from '../delivery.ts';
import { type Grant, permissions } from '../grant.ts';
import { healthStates, whyStepNames } from '../health.ts';
import { exportedPathPattern } from '../names.ts';
import { observedTypes } from '../payloads/observation.ts';
import { saidFields } from '../run-report.ts';
import { providerHookShape, senderFindingShape, senderProblemShape, senderStateShape } from '../sender.ts';
import { diagnosticShape } from './problem-answer.ts';
import { automationAnswer, webhookAnswer, webhookDetailAnswer } from './shown-definitions.ts';

const { uid, commit, serial } = webhookDetailAnswer.shape;
const time = z.iso.datetime();
const webhookAtArrival = z.string().describe('The name of the webhook when the delivery arrived.');

const changeCounts = z.strictObject({ add: z.int(), change: z.int(), destroy: z.int() });

const grant = z.strictObject({
  factory: z.string().nullable().describe('The factory that it is for; null: all factories.'),
  permission: z.enum(permissions),
}) satisfies z.ZodType<Grant>;

/** Who is signed in. */
export const identityAnswer = z.strictObject({
  kind: z.enum(['token', 'person', 'workload']),
  name: z.string().describe('The name of the API token or of the person, or the issuer of the token.'),
  grants: z.array(grant).describe('All permissions of the caller.'),
});
export const signedInAnswer = identityAnswer.extend({
  sessionKey: z.string().describe('Sent in X-Hookmill-Session with each request of the session.'),
});

/** A session of the dashboard. */
export const sessionAnswer = z.strictObject({
  id: z.string().describe('Names the session. Nobody can use the session with it.'),
  kind: z.enum(['token', 'person']),
  name: z.string().describe('The name of the API token or of the person that it belongs to.'),
  subject: z.string().nullable().describe('The name that the person keeps forever at the provider.'),
  host: z.string().describe('The host and port at which it began.'),
  from: z.string().describe('The address from which somebody signed in.'),
  beganAt: time,
  usedAt: time.describe('When it was last used, to within a minute.'),
  until: time.describe('When it ends at the latest.'),
});
export const sessionsAnswer = z.strictObject({
  sessions: z.array(
    sessionAnswer.extend({ current: z.boolean().describe('Whether this request belongs to it.') }),
  ),
});

/** The provider at which people can sign in; null if they can only use API tokens at this host. */
export const signInAnswer = z.strictObject({
  provider: z.strictObject({ label: z.string() }).nullable(),
});
export const signInBegunAnswer = z.strictObject({
  url: z.string().describe('The page of the provider at which the person signs in.'),
  attemptKey: z.string().describe('Finishes the sign-in, together with the cookie.'),
});

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
      message: z.string(),
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

/** By whom and since when, or until when. */
const alertMark = z.strictObject({ at: time, by: z.string() }).nullable();
export const alertAnswer = z.strictObject({
  id: z.string(),
  type: z.enum(alertTypes),
  status: z.enum(['open', 'resolved']),
  webhook: z.strictObject({ name: z.string(), uid: z.string() }).nullable(),
  automation: z.string().nullable(),
  run: z.string().nullable().describe('The run that a person must act on, if there is one.'),
  reason: z.string(),
  since: time,
  until: time.nullable().describe('When it was resolved.'),
  remedy: z.string().nullable().describe('What to do; null once it is resolved.'),
  acknowledged: alertMark.describe('Who acknowledged it, and when.'),
  muted: alertMark.describe('Who muted it, and until when.'),
});
/** Something that needs attention: an open alert, or what no alert tells yet. */
export const attentionAnswer = alertAnswer.omit({ status: true, until: true }).extend({
  id: z.string().nullable().describe('The ID of the alert; null: none tells it.'),
  type: z.enum(attentionKinds),
  since: time.nullable(),
});

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
        subject: z.string().describe('The webhook, and what it became.'),
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

export const definitionsAnswer = z.strictObject({
  serial,
  files: z.array(
    z.strictObject({
      path: z.string().regex(exportedPathPattern).describe('The path in a definitions directory.'),
      content: z.string(),
    }),
  ),
});
export const webhooksAnswer = z.strictObject({ serial, webhooks: z.array(webhookAnswer) });
/** A generated secret. It is shown once: nothing stores it in plain text, and no other answer contains it. */
export const revealedAnswer = z.strictObject({
  secret: z.string().optional(),
  url: z.string().optional().describe('The ingress URL with its token. Only for a url_token webhook.'),
});
export const changedWebhookAnswer = z.strictObject({
  webhook: webhookDetailAnswer,
  revealed: revealedAnswer.nullable().describe('The generated secret, shown only in this answer.'),
});

/** The rotation of a webhook's secret that has begun. No answer has the new value. */
export const secretRotationAnswer = z.strictObject({
  webhook: z.string(),
  secretName: z.string(),
  serial,
  until: time.describe('When the value before ends, unless the rotation is ended first.'),
  isContinued: z.boolean().describe('true: an overlap was running already, and no other value was set.'),
});
export const endedRotationAnswer = z.strictObject({ serial });

/** The deliveries of each webhook in the last 24 hours, hour by hour. The last hour is the current one. */
const webhookHealth = z.strictObject({
  state: z.enum(healthStates),
  reason: z.string(),
  since: time.nullable().describe('Since when it is quiet or failing; null in other states.'),
});

/** The health of the webhooks of several factories, in numbers. */
export const healthOverviewAnswer = z.strictObject({
  factories: z
    .array(
      z.strictObject({
        factory: z.string(),
        counts: z.array(z.strictObject({ state: z.enum(healthStates), webhooks: z.int() })),
      }),
    )
    .describe('The webhooks that ever got a delivery, as they were last looked at.'),
  unhealthy: z
    .array(z.strictObject({ factory: z.string(), name: z.string(), uid, health: webhookHealth }))
    .describe('The webhooks that are quiet or failing, failing ones first.'),
  hasMore: z.boolean().describe('Whether more are quiet or failing than are listed.'),
});

/** Which value of its secret the sender of a webhook uses. */
const overlapShape = z.strictObject({
  until: time.describe('When the previous value ends.'),
  sender: z
    .enum(['previous', 'current'])
    .nullable()
    .describe('The value that verified the newest delivery; null if none came since the overlap began.'),
  message: z.string(),
  remedy: z.string().nullable(),
});

/** A field that seems to be the ID of an event, though several accepted deliveries share it. */
const repeatedIdShape = z.strictObject({
  field: z.string().describe('Its path, as `deliveryIdField` takes it.'),
  deliveries: z.int().describe('Number of deliveries that have the same value as an earlier one.'),
  judged: z
    .int()
    .describe('Number of the last accepted deliveries that no named header or field identified.'),
  example: z.array(z.string()).describe('Two of the deliveries, the earlier one first.'),
});

export type RepeatedId = z.output<typeof repeatedIdShape>;

export const pauseAnswer = z.strictObject({
  automation: z.string(),
  at: time.describe('Since when it is paused.'),
  by: z.string(),
  until: time.nullable().describe('When it goes on by itself; null: when somebody resumes it.'),
});

/** The health of the webhooks of a factory, and their deliveries of the last seven days. */
/** What is shown of a delivery in one line. */
const titleFields = {
  title: z
    .string()
    .describe(
      'The event, such as `pull_request opened`; of a rejected request the reason. A duplicate has the title of its original.',
    ),
  text: z
    .string()
    .nullable()
    .describe(
      'What the event is about, such as `acme/shop#482 · Charge VAT by country`; null if nothing is known. It is from the sender.',
    ),
};
const schemeTitleFields = {
  ...titleFields,
  scheme: z.string().nullable().describe('The signature scheme that authenticated it; null if none did.'),
};

export const healthAnswer = z.strictObject({
  since: time.describe('When the first hour begins. The last hour is the current one.'),
  webhooks: z.array(
    z.strictObject({
      name: z.string(),
      uid,
      health: webhookHealth.nullable().describe('null: the webhook is disabled.'),
      disabledSince: time
        .optional()
        .describe('Since when it is disabled. Only if somebody disabled it by itself, not with its file.'),
      overlap: overlapShape
        .optional()
        .describe(
          'Only while the previous value of its secret is valid too, or has ended and the sender still uses it.',
        ),
      repeatedId: repeatedIdShape
        .optional()
        .describe('Only if one webhook is asked for, and its sender seems to repeat events.'),
      lastDelivery: z
        .strictObject({ id: z.string(), at: time, outcome: z.enum(outcomes), ...titleFields })
        .nullable(),
      lastGoodAt: time.nullable().describe('When the last delivery came that was accepted, or a duplicate.'),
      lastRejectedAt: time.nullable(),
      tallies: z
        .array(z.strictObject({ outcome: z.enum(outcomes), hours: z.array(z.int()).length(7 * 24) }))
        .describe('The deliveries by hours, with each outcome that there was. They may be some seconds old.'),
    }),
  ),
  pauses: z.array(pauseAnswer).describe('The paused automations; of one webhook, those that listen to it.'),
});

export const automationsAnswer = z.strictObject({ serial, automations: z.array(automationAnswer) });
const clauseShape = z.strictObject({
  path: z.string(),
  operator: z.enum(['in', 'not_in', 'exists', 'like', 'not_like', 'compare', 'any_element']),
  allowed: z.string(),
  found: z.string(),
  holds: z.boolean(),
  note: z.string().optional().describe('How near the value came to a pattern or range that it fails.'),
});
export const verdictAnswer = z.strictObject({
  automation: z.string(),
  enabled: z.boolean(),
  wouldTrigger: z.boolean(),
  triggers: z.array(
    z.strictObject({
      wouldTrigger: z.boolean(),
      webhookHolds: z.boolean(),
      payloadHolds: z.boolean(),
      clauses: z.array(clauseShape),
      headers: z
        .strictObject({ holds: z.boolean(), clauses: z.array(clauseShape) })
        .optional()
        .describe('The header check, if the trigger has a header filter.'),
    }),
  ),
});

const filterWarnings = z.array(
  z.strictObject({
    trigger: z.int().describe('The index of the trigger.'),
    code: diagnosticShape.shape.code,
    path: z.string().describe('Where in the payload it looks, such as `$.issue.labels`.'),
    message: z.string(),
    hint: z.string(),
  }),
);

/** The result of a filter test, with what is suspicious about the filters. */
export const filterTestAnswer = verdictAnswer.extend({ warnings: filterWarnings });

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const { path: clausePath, operator: clauseOperator, allowed: clauseAllowed } = clauseShape.shape;
const testedClause = {
  path: clausePath,
  operator: clauseOperator.exclude(['any_element']),
  allowed: clauseAllowed,
};
const suggestedClause = z.strictObject({
  allowed: z.string().describe('The operand with the change.'),
  values: z.array(scalar).describe('The whole list to write instead, for the same operator.'),
});

/** An automation or a draft on stored deliveries. No value in it looks like a credential. */
export const testedOnStoredAnswer = z.strictObject({
  deliveries: z
    .array(
      z.strictObject({
        id: z.string(),
        at: time,
        webhook: webhookAtArrival,
        ...titleFields,
        verdict: z
          .enum(['match', 'near', 'no'])
          .describe(
            '`match`: a trigger fires, also of a disabled automation; `near`: one clause of a trigger fails, by a value that was probably meant.',
          ),
        near: z
          .strictObject({
            ...testedClause,
            found: z.string().nullable().describe('null: it is not shown, as it may be a credential.'),
            note: z.string().optional().describe('How the value differs from what is allowed.'),
            suggestion: suggestedClause.optional().describe('The change by which the delivery would match.'),
          })
          .optional()
          .describe('The clause that fails; only with the verdict `near`.'),
      }),
    )
    .describe('Newest first. Fewer than asked for, if there are no more, or if they are large.'),
  matches: z.int().describe('How many of the deliveries match.'),
  clauses: z
    .array(
      z.strictObject({
        trigger: z.int().describe('The index of the trigger.'),
        kind: z.enum(['payload', 'headers']),
        ...testedClause,
        holds: z.int().describe('For how many of the judged deliveries it holds.'),
        judged: z.int().describe('The number of deliveries to the webhooks of the trigger.'),
        found: z
          .array(z.string())
          .describe('Values for which it fails, the most frequent first; `missing` without one.'),
        suggestion: suggestedClause
          .extend({
            matches: z
              .int()
              .describe(
                'How many of the deliveries would match; of objects in a list, the nearest is tried.',
              ),
          })
          .optional()
          .describe('The change that repairs most of the near misses.'),
      }),
    )
    .describe('The clauses of all triggers, in their order.'),
  since: time.nullable().describe('When the oldest of the deliveries arrived; null: there are none.'),
  warnings: filterWarnings.describe('What is suspicious about the filters, also by these deliveries.'),
  startedNothing: z
    .int()
    .optional()
    .describe(
      'For how many of the deliveries no enabled automation starts a run now. Only if `webhook` is given.',
    ),
});

/** The shape of a webhook's payloads. */
export const payloadsAnswer = z.strictObject({
  webhook: z.string(),
  uid,
  deliveries: z.int().describe('Number of accepted deliveries that were observed, the newest ones.'),
  paths: z
    .array(
      z.strictObject({
        path: z.string().describe('A JSONPath (RFC 9535) such as `$.labels[*].name`.'),
        keys: z
          .array(z.string().nullable())
          .describe('The keys of the path; null: the elements of an array.'),
        deliveries: z.int().describe('In how many deliveries the path has a value.'),
        types: z.array(z.strictObject({ type: z.enum(observedTypes), values: z.int() })),
        examples: z.array(scalar).describe('Some values. None of them looks like a credential.'),
        isEnumeration: z.boolean().describe('Whether the examples are all values that were observed.'),
      }),
    )
    .describe('Each path before those below it.'),
  hasMore: z.boolean().describe('Whether further paths were observed.'),
});

const formShape = z.strictObject({
  payloadField: z
    .string()
    .optional()
    .describe('The field whose JSON is the payload. Without it, all fields are.'),
});

export const deliveryAnswer = z.strictObject({
  id: z.string(),
  webhook: webhookAtArrival,
  uid: uid.or(z.literal(manualUid)).describe('The UID of the webhook; `manual` if no sender sent it.'),
  at: time,
  size: z.int().describe('Size of the body in bytes.'),
  outcome: z.enum(outcomes),
  identity: z.string().nullable(),
  identitySource: z.enum(identitySources).optional(),
  authenticatedBy: z.string().optional(),
  verifiedWith: z
    .literal('previous')
    .optional()
    .describe(
      'Only if the previous value of the secret verified it, during an overlap, and not the current one.',
    ),
  reason: z
    .string()
    .optional()
    .describe('Why it was rejected. If its credential was, only with the manage permission.'),
  remedy: z.string().optional().describe('What to do about the reason, if it is known.'),
  duplicateOf: z.string().optional(),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('The event headers, with names in lower case. Only of accepted deliveries.'),
  eventType: z.string().optional().describe('The type of the event, if an event header names it.'),
  form: formShape
    .optional()
    .describe('How its body became its payload. Only if it was accepted, and is a form.'),
  commit,
  summary: z
    .strictObject({
      ...schemeTitleFields,
      runs: z.partialRecord(z.enum(runStates), z.int()).describe('The number of its runs in each state.'),
      preview: z
        .string()
        .nullable()
        .describe('The beginning of the body, on one line; null unless the payload is kept.'),
    })
    .optional()
    .describe('Only in lists that ask for it.'),
});
/** Where a list goes on. */
const listEnd = {
  next: z
    .string()
    .nullable()
    .describe(
      'Where the next page begins; null: this is the last page. A page with few or no rows may have one.',
    ),
  hasMore: z.boolean().describe('Whether more rows follow now. With `after`, others may follow later.'),
  searched: z.int().describe('Number of rows that were looked at for this page.'),
};
export const deliveriesAnswer = z.strictObject({ deliveries: z.array(deliveryAnswer), ...listEnd });

export const runAnswer = z.strictObject({
  id: z.string(),
  automation: z.string(),
  runner: z.string().describe('The name of the runner that executes it.'),
  deliveryId: z.string(),
  webhook: webhookAtArrival,
  state: z.enum(runStates),
  attempts: z.int(),
  replay: z.boolean(),
  manual: z
    .literal(true)
    .optional()
    .describe('true: somebody started it by hand, with a payload that no sender sent.'),
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  nextAttemptAt: time.nullable().describe('When a queued run is attempted again.'),
  waitsUntil: time.optional().describe('Until when a running run waits for its receiver to report the end.'),
  report: z
    .strictObject({ at: time, ...saidFields })
    .optional()
    .describe(
      'The report of the attempt: the last one of its receiver, or the artifact result.json of its command. Both texts are untrusted; the link is an http or https URL.',
    ),
  error: z.string().optional().describe('Why the last attempt failed.'),
  cancel: z
    .strictObject({ at: time, by: z.string(), reason: z.string().optional() })
    .optional()
    .describe(
      'Who cancelled it, when, and why if they said so. While it is running or queued, a daemon still ends what it started.',
    ),
  afterwards: z
    .strictObject({
      since: time,
      until: time.optional(),
      approval: z.strictObject({ at: time, by: z.string() }).optional(),
    })
    .optional()
    .describe(
      'Since when its command has ended and a second one is to act on what it left; until when it waits for approval, and who approved.',
    ),
  againOf: z.string().optional().describe('The run whose work it does again.'),
  waitsFor: z
    .enum(runWaits)
    .optional()
    .describe(
      'Why a queued run does not start: an earlier run of its `order`, its `concurrency`, more deliveries for its `debounce`, a pause of its automation, or approval of what it left.',
    ),
  heldBy: z.string().optional().describe('The failed run that holds a run that waits for its `order`.'),
  attemptsMax: z
    .int()
    .optional()
    .describe(
      'Maximum number of attempts: of its automation when the run was recorded, bounded by the settings of the daemon.',
    ),
  timeLimitSeconds: z
    .number()
    .optional()
    .describe(
      'Time limit for one attempt, found as `attemptsMax`; absent if nothing limits it, or for a second command. Not in lists.',
    ),
  lane: z
    .strictObject({
      kind: z.enum(['order', 'limit']).describe('`limit`: of `concurrency`.'),
      field: z.string().optional().describe('The field of the payload; absent if all runs share a limit.'),
      value: z
        .union([z.string(), z.number(), z.boolean(), z.null()])
        .describe('Its value in the payload of the run. Untrusted. null: none.'),
    })
    .optional()
    .describe('The runs whose order it keeps, or else with which it shares a limit. Not in lists.'),
  history: z
    .array(
      z.strictObject({
        attempt: z.int().describe('Begins again with 1 after a retry, and with a second command.'),
        startedAt: time,
        endedAt: time.nullable().describe('null: it is being made.'),
        error: z.string().optional().describe('Why it failed: at most 300 characters.'),
      }),
    )
    .optional()
    .describe(
      'The last attempts, at most 100, the oldest first. Not in lists. Absent before the first attempt, and for runs that ended before attempts were kept.',
    ),
  stopped: z.boolean().optional().describe('true: `runsPerHour` ended it without an attempt.'),
  dismissed: z.boolean().optional().describe('true: somebody dismissed the failed run.'),
  holds: z
    .boolean()
    .optional()
    .describe('true: the runs behind it in its `order` wait until it is retried or dismissed.'),
  deliveryCount: z
    .int()
    .optional()
    .describe('Number of deliveries that a run with `debounce` is for. `deliveryId` is the newest.'),
  deliveries: z
    .array(z.strictObject({ id: z.string(), at: time, size: z.int() }))
    .optional()
    .describe('These deliveries, in the order in which they were recorded. Not in lists.'),
  artifacts: z
    .array(z.strictObject({ name: z.string(), size: z.int().describe('In bytes.') }))
    .optional()
    .describe('Files that the run left, on the machine that executed it. Not in lists.'),
  prompt: z
    .string()
    .optional()
    .describe(
      'The prompt of its automation when the run was recorded, without the envelope. Not in lists, nor once it is no longer stored.',
    ),
  summary: z
    .strictObject(schemeTitleFields)
    .optional()
    .describe('Of the delivery that `deliveryId` names. Only in lists that ask for it.'),
});
const weekOfHours = z.array(z.int()).length(7 * 24);
const runDurations = z
  .strictObject({ medianMs: z.int(), p90Ms: z.int().describe('The 90th percentile.') })
  .nullable()
  .describe('null: no run ended.');
export const runTalliesAnswer = z.strictObject({
  since: time.describe('When the first hour begins. The last hour is the current one.'),
  automations: z
    .array(
      z.strictObject({
        automation: z.string(),
        succeeded: weekOfHours,
        failed: weekOfHours,
        cancelled: weekOfHours,
        lastRun: z
          .strictObject({ id: z.string(), state: z.enum(endStates), at: time })
          .nullable()
          .describe('The last run that ended, and when. It may no longer be stored.'),
      }),
    )
    .describe(
      'The ends of runs by hours: of the applied automations, and of others whose runs ended in this time. A run that was retried counts once for each end.',
    ),
  now: z
    .strictObject({
      running: z.int(),
      queued: z.int().describe('Runs that start when they are due and a runner has a place.'),
      held: z.int().describe('Runs that a failed run holds.'),
      waiting: z.int().describe('Runs that wait for anything else, as `waitsFor` says.'),
    })
    .describe('The runs that have not ended; each counts once.'),
  duration: z
    .strictObject({ day: runDurations, dayBefore: runDurations })
    .describe(
      'The time from the creation of a run to its success or failure, in the last 24 hours, the current one included, and in those before. Values are within 5 %.',
    ),
});
export const alertsAnswer = z.strictObject({
  alerts: z.array(alertAnswer),
  receivers: z
    .array(
      z.strictObject({
        format: z.enum(receiverFormats),
        host: z.string().nullable().describe('null: its URL is a team secret.'),
        secretName: z
          .string()
          .nullable()
          .describe('The team secret that it needs. Only with the manage permission.'),
        last: z
          .strictObject({
            at: time,
            status: z.int().nullable().describe('The status that it answered; null: none.'),
            error: z
              .string()
              .nullable()
              .describe('Why the message did not arrive. The details only with the manage permission.'),
          })
          .nullable()
          .describe('The last attempt to send it a message; null: there was none.'),
      }),
    )
    .describe(
      'The receivers of the last daemon to start that has any. They get the alerts of all factories.',
    ),
});
/** What is wrong now, in several factories. */
export const openAlertsAnswer = z.strictObject({
  alerts: z.array(alertAnswer.extend({ factory: z.string() })),
  logTrouble: z
    .string()
    .nullable()
    .describe('Why this daemon cannot record deliveries, so that it refuses them; null: it can.'),
});

export const pausesAnswer = z.strictObject({ pauses: z.array(pauseAnswer) });

export const runnerAnswer = z.strictObject({
  name: z.string(),
  kind: z.enum(runnerKinds),
  automations: z.array(z.string()).describe('Globs of the names of the automations that may use it.'),
  repositories: z
    .array(z.string())
    .describe('The repositories of which its runs can get a working copy, by `repository` of an automation.'),
  attempts: z.int().optional().describe('Maximum number of attempts at a run.'),
  timeLimitSeconds: z.number().optional().describe('Time limit for one attempt; absent if it has none.'),
});
export const runnersAnswer = z.strictObject({ runners: z.array(runnerAnswer) });

export const runsAnswer = z.strictObject({ runs: z.array(runAnswer), ...listEnd });

const evaluationShape = z.strictObject({
  serial: z.int().describe('Serial of the applied state that judged the delivery.'),
  automations: z.array(verdictAnswer).describe('The automations with a trigger for the webhook.'),
  others: z.int().describe('Number of automations that have triggers for other webhooks only.'),
});
export const deliveryDetailAnswer = deliveryAnswer.extend({
  ...titleFields,
  payload: z
    .string()
    .nullable()
    .describe(
      'The payload as JSON: the body, or what was read of a form; null unless the delivery was accepted.',
    ),
  evaluation: evaluationShape.nullable(),
  runs: z.array(runAnswer),
});
/** An event of a live view. */
export const liveDeliveriesAnswer = z.strictObject({
  deliveries: z
    .array(deliveryAnswer)
    .describe('The newest deliveries, in the order in which they were recorded.'),
  skipped: z.int().describe('Number of further deliveries, which this event leaves out.'),
});
export const runByHandAnswer = z.strictObject({ deliveryId: z.string(), runId: z.string() });
export const replayedAnswer = z.strictObject({
  runs: z.array(z.strictObject({ id: z.string(), automation: z.string() })),
});

/** The answer of the ingress to a test. */
export const sentTestAnswer = z.strictObject({
  status: z.int().describe('The HTTP status with which the ingress answered.'),
  outcome: z
    .enum(outcomes)
    .nullable()
    .describe('null: the request has no row in the log, as one to a disabled webhook or above a rate limit.'),
  deliveryId: z.string().nullable().describe('The delivery as the log has it, also a refused one.'),
  reason: z.string().nullable().describe('Why it was refused.'),
  remedy: z.string().nullable().describe('What to do about the reason, if it is known.'),
  runs: z.int().describe('How many runs it started.'),
  tookMs: z.number().describe('The time until the answer, in ms.'),
});

const unloggedRequests = z.array(
  z.strictObject({
    uid: z.string(),
    reason: z.enum(unloggedReasons),
    detail: z.string().describe('How a similar URL differs; empty for other reasons.'),
    count: z.int(),
    lastAt: time,
  }),
);
/** The requests that were refused and have no row in the log, the last ones first. */
export const unloggedAnswer = z.strictObject({ since: time, requests: unloggedRequests });

/** Why a webhook's last request, or a delivery, started runs or did not. */
export const whyAnswer = z.strictObject({
  subject: z.string(),
  webhook: z
    .strictObject({ name: z.string(), uid, url: z.string() })
    .nullable()
    .describe('null: the webhook of the delivery is no longer applied.'),
  cause: z
    .enum(whyStepNames)
    .nullable()
    .describe('The step at which the newest request went wrong; null: none.'),
  attention: z
    .array(attentionAnswer)
    .describe(
      'What needs attention at the webhook and its automations, or at that of the run, the worst first.',
    ),
  steps: z
    .array(
      z.strictObject({
        step: z.enum(whyStepNames),
        state: z
          .enum(['ok', 'wrong', 'earlier', 'unknown'])
          .describe(
            '`unknown`: no request came so far. `earlier`: something was wrong, and a delivery was accepted since.',
          ),
        at: time.nullable().describe('When it went wrong; null if nothing did, or it is so whatever comes.'),
        message: z.string(),
        remedy: z
          .string()
          .nullable()
          .describe('How to repair the step; null unless something is or was wrong.'),
        lines: z.array(z.string()).describe("Clauses that fail, or the end of a run's output."),
      }),
    )
    .describe('In the order of a request: from its sender to the runs that it starts.'),
  last: z
    .array(z.strictObject({ outcome: z.enum(outcomes), id: z.string(), at: time }))
    .describe('The last delivery with each outcome.'),
  unlogged: unloggedRequests.describe('The requests of the last hour that have no row.'),
});

export const secretAnswer = z.strictObject({
  name: z.string(),
  state: z
    .enum(['set', 'declared', 'reference', 'missing'])
    .describe(
      '`declared`: it has no value yet. `missing`: it does not exist, and a webhook names it, or one at the tip of the branch that could not be applied.',
    ),
  from: z
    .string()
    .nullable()
    .optional()
    .describe(
      'Where the value is kept; null if another key sealed the reference. Only with the state `reference`.',
    ),
  previousUntil: time.optional().describe('Until when the value before stays valid. Only during an overlap.'),
  updatedAt: time.nullable().describe('null: it is missing.'),
  usedBy: z.array(z.string()).describe('The webhooks of this factory that use the secret, or would.'),
  usedByBranch: z.boolean().describe('Whether the branch that the factory follows is read with it.'),
  usedElsewhere: z.boolean().describe('Whether a webhook of another factory uses the secret.'),
});
export const secretsAnswer = z.strictObject({ secrets: z.array(secretAnswer) });

export const schemeAnswer = z.strictObject({
  id: z.string(),
  provider: z.string(),
  kind: z.string(),
  page: z.string(),
  secretLocation: z.string(),
  secretCommand: z
    .enum(['generate', 'set', 'declare'])
    .describe(
      'Who creates the secret: `generate`: hookmill; `set`: the provider; `declare`: the provider, once it has the URL.',
    ),
  blankSecret: z
    .enum(['generated', 'declared'])
    .describe(
      'Whether hookmill generates a secret that a new webhook leaves blank, or somebody supplies it later.',
    ),
  checked: z
    .strictObject({ on: z.string(), against: z.string() })
    .describe('The day on which the scheme was last compared with its source, and that source.'),
  summary: z.array(z.strictObject({ label: z.string(), text: z.string() })),
});
export const schemesAnswer = z.strictObject({ schemes: z.array(schemeAnswer) });

const changeShape = z.strictObject({
  action: z.enum(['create', 'update', 'delete', 'no-op']),
  kind: z.enum(['webhook', 'automation']),
  name: z.string(),
  uid: z.string().optional(),
  url: z.string().optional(),
  fields: z
    .array(fieldChangeShape)
    .describe('The changes of the definition, part by part; each field of a new one.'),
  confirmation: confirmationShape.optional(),
  restored: z
    .literal(true)
    .optional()
    .describe('Only of a new webhook: it gets the UID and the URL that it had before it was destroyed.'),
  notRestored: z
    .string()
    .optional()
    .describe('Only of a new webhook: why it does not get the URL of the destroyed one of its name.'),
  renamedTo: z.string().optional().describe('The new name of a destroyed webhook that is only renamed.'),
  renamedFrom: z.string().optional().describe('The former name of a new webhook that is only renamed.'),
  atProvider: z
    .array(z.string())
    .optional()
    .describe('What a person must do at the provider of the webhook, which an apply does not.'),
  impact: impactShape
    .optional()
    .describe('The impact on senders and runs. Absent if there is none, or if the log cannot be read.'),
});
export const plannedAutomationAnswer = z.strictObject({ serial, change: changeShape });
export const planAnswer = z.strictObject({
  factory: z.string(),
  serial,
  base: z
    .strictObject({ revision: z.string(), branch: z.string() })
    .nullable()
    .describe('The applied commit, and its branch; null if the definitions come from no repository.'),
  changes: z.array(changeShape),
  summary: changeCounts,
  diagnostics: z
    .array(diagnosticShape)
    .describe('Warnings about the definitions; errors too if the request has `findings`.'),
});
export const appliedAnswer = planAnswer.extend({
  result: z.enum(['applied', 'unchanged']),
  webhooks: z.array(webhookAnswer),
});

/** The hook of a webhook, as its provider last described it, and its problems. */
export const senderAnswer = z.strictObject({
  webhook: z.string(),
  uid,
  url: z.string().describe('The ingress URL, which the hook should have.'),
  provider: z.enum(senderProviders),
  at: z.string().describe('Where the hook is, for people: github repository acme/shop.'),
  checkedAt: time.nullable().describe('When the provider was last asked; null: never.'),
  hooks: z.array(providerHookShape).describe('Its hooks, as the provider last listed them.'),
  missed: senderStateShape.shape.missed.describe(
    "Events that the provider's log has and the delivery log has not, when they were last compared; null: never.",
  ),
  findings: z.array(senderFindingShape).describe('Problems and possible improvements, the worst first.'),
});
/** What registering would change of the hook of a webhook at its provider. */
export const senderPlanAnswer = z.strictObject({
  webhook: z.string(),
  uid,
  url: z.string().describe('The ingress URL, which the hook will have.'),
  provider: z.enum(senderProviders),
  at: z.string().describe('Where the hook is, for people: github repository acme/shop.'),
  action: z.enum(['create', 'change', 'none']),
  hookId: z.string().nullable().describe('The ID of the hook at the provider; null: it will be created.'),
  changes: z
    .array(
      z.strictObject({
        field: z.enum(['url', 'contentType', 'events', 'active', 'tls', 'secret']),
        before: z.string().nullable().describe('null: there is no hook yet.'),
        after: z.string(),
      }),
    )
    .describe(
      'The changes of the hook, for people. For a secret, the name of its team secret, never the value.',
    ),
  fingerprint: z.string().describe('Identifies what this was judged by, for registerSender.'),
});
export const registeredSenderAnswer = senderPlanAnswer.extend({
  hook: providerHookShape.describe('The hook as the provider has it now.'),
  ping: z
    .strictObject({
      after: z.string().describe('The `after` of listDeliveries for what came since the ping.'),
      problem: senderProblemShape.nullable(),
    })
    .describe('The ping that the provider was asked to send; its problem, if the provider did not.'),
});
export const sendersAnswer = z.strictObject({ senders: z.array(senderAnswer) });

export const missedEventAnswer = z.strictObject({
  eventId: z.string().describe("The provider's ID of the event: the same for all attempts."),
  event: z.string().describe('As the event header of its delivery has it.'),
  action: z.string().nullable(),
  firstAt: time.describe('The first attempt of the provider to deliver it, of those that were read.'),
  at: time.describe('The newest attempt.'),
  attempts: z.int().describe('The number of attempts.'),
  attemptIds: z.array(z.string()).describe("The provider's IDs of the attempts, the newest first."),
  attemptId: z
    .string()
    .describe('The newest attempt, by which the provider is asked to send the event again.'),
  status: z
    .int()
    .nullable()
    .describe(
      'The status that the provider got at the newest attempt; null: no answer. A proxy may have sent it.',
    ),
  matches: z
    .array(z.string())
    .describe('The enabled automations that it could match, by what the provider lists of it: some of them.'),
  canRedeliver: z.boolean().describe('Whether the provider can send it again.'),
  isInFlight: z
    .boolean()
    .describe('Whether the newest attempt is less than a minute old, so that the event may still arrive.'),
  asked: z
    .strictObject({
      at: time,
      isLost: z
        .boolean()
        .describe(
          'Whether it may be asked for again: a minute later, the provider has not tried, or got no answer, and that was not so several times.',
        ),
    })
    .nullable()
    .describe('When the provider was asked to send it again; null: it was not.'),
});

export const missedAnswer = z.strictObject({
  events: z
    .array(missedEventAnswer)
    .describe(
      'Events that the webhook has not accepted. The next part may have earlier attempts of the same events.',
    ),
  read: z.strictObject({
    at: time.describe('When this part of the log was read.'),
    since: time.describe('The beginning of the time that is compared.'),
    isShortened: z
      .boolean()
      .describe(
        'Whether an earlier beginning was asked for, of which the delivery log may know nothing any more.',
      ),
    entries: z.int().describe("The entries of the provider's log that were read, in all parts."),
    isComplete: z.boolean().describe('Whether everything since the beginning was read.'),
  }),
  next: z.string().nullable().describe('The `cursor` of the next part; null: there is none.'),
  nextInMs: z
    .int()
    .nullable()
    .describe('The time to wait before the next part, because a rate limit of the provider is reached.'),
});

export const redeliverAnswer = z.strictObject({
  events: z
    .array(
      z.strictObject({
        eventId: z.string(),
        result: z
          .enum(['asked', 'accepted', 'too-soon', 'refused'])
          .describe(
            '`accepted`: it has arrived meanwhile; `too-soon`: the pace does not allow it yet, or it was asked for less than a minute ago.',
          ),
        reason: z.string().nullable().describe('Why it was refused.'),
      }),
    )
    .describe('In the order of the request.'),
  nextInMs: z
    .int()
    .nullable()
    .describe('The time until the provider may be asked for another event; null: now.'),
});

export const auditAnswer = z.strictObject({
  entries: z.array(auditEntryShape),
  next: z.string().nullable().describe('The `cursor` of the next page.'),
});

/** A new API token. No other answer contains it. */
export const createdTokenAnswer = z.strictObject({
  name: z.string(),
  factory: z.string().nullable().describe('The only factory that the token is for; null: all factories.'),
  permission: z.enum(permissions),
  expiresAt: time.nullable().describe('null: never.'),
  token: z.string().describe('The token, shown only in this answer.'),
});

/** API tokens that are valid for the factory, never the tokens themselves. */
export const tokensAnswer = z.strictObject({
  tokens: z.array(
    z.strictObject({
      name: z.string(),
      factory: z.string().nullable().describe('The only factory that the token is for; null: all factories.'),
      permission: z.enum(permissions),
      createdAt: time,
      expiresAt: time.nullable().describe('null: never.'),
      lastUsedAt: time.nullable().describe('Accurate to the minute; null: never.'),
    }),
  ),
});
