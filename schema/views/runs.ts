import { z } from 'zod';
import { endStates, runnerKinds, runStates, runWaits } from '../delivery.ts';
import { saidFields } from '../run-report.ts';
import { listEnd, schemeTitleFields, time, webhookAtArrival } from './fields.ts';
import { outside } from './outside.ts';

export const pauseAnswer = z.strictObject({
  automation: z.string(),
  at: time.describe('Since when it is paused.'),
  by: z.string(),
  until: time.nullable().describe('When it goes on by itself; null: when somebody resumes it.'),
});
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
    .strictObject({
      at: time,
      ...saidFields,
      message: outside(saidFields.message),
      link: outside(saidFields.link),
    })
    .optional()
    .describe(
      'The report of the attempt: the last one of its receiver, or the artifact result.json of its command. Both texts are untrusted; the link is an http or https URL.',
    ),
  error: outside(z.string().optional().describe('Why the last attempt failed.')),
  cancel: z
    .strictObject({ at: time, by: z.string(), reason: outside(z.string().optional()) })
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
      value: outside(
        z
          .union([z.string(), z.number(), z.boolean(), z.null()])
          .describe('Its value in the payload of the run. Untrusted. null: none.'),
      ),
    })
    .optional()
    .describe('The runs whose order it keeps, or else with which it shares a limit. Not in lists.'),
  history: z
    .array(
      z.strictObject({
        attempt: z.int().describe('Begins again with 1 after a retry, and with a second command.'),
        startedAt: time,
        endedAt: time.nullable().describe('null: it is being made.'),
        error: outside(z.string().optional().describe('Why it failed: at most 300 characters.')),
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
    .array(z.strictObject({ name: outside(z.string()), size: z.int().describe('In bytes.') }))
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
export const runByHandAnswer = z.strictObject({ deliveryId: z.string(), runId: z.string() });
