import { z } from 'zod';
import { fieldPathPattern, parseFieldPath, suggestFieldPath } from '../field-path.ts';
import { addMistake } from './add-mistake.ts';
import { parseDurationMs, runTime } from './duration.ts';

/** @limit Most runs of an automation at a time that a definition can set: a higher number limits nothing. */
const concurrencyMax = 1_000;
/** @limit Most runs of an automation in an hour that a definition can set: a higher fuse would stop runs too late, and each start counts the runs before it. */
const runsPerHourMax = 10_000;
/** @limit Longest path of a field of the payload, in characters: paths in real payloads are far shorter. */
const fieldPathCharsMax = 500;

/** The path of a field of the payload, such as `$.issue.id`. */
export const fieldPath = z
  .string()
  .refine(text => text.length <= fieldPathCharsMax, {
    abort: true,
    error: 'the path of a field is too long',
    params: { hint: `write at most ${fieldPathCharsMax} characters` },
  })
  .superRefine((text, context) => {
    if (parseFieldPath(text)) return;
    const meant = suggestFieldPath(text);
    const hint =
      meant === undefined ? 'write the path of one field, e.g. $.issue.id' : `did you mean ${meant}?`;
    addMistake(context, [], `"${text}" is not the path of a field`, { code: 'definition/value', hint });
  })
  .meta({ pattern: fieldPathPattern.source, maxLength: fieldPathCharsMax, examples: ['$.issue.id'] });

const debounce = z.strictObject({
  for: runTime.describe('The run starts when no further delivery has come for this time, such as 30s.'),
  key: fieldPath.optional().describe('Only deliveries with the same value in this field share a run.'),
  atMost: runTime
    .optional()
    .describe('The run starts at the latest this long after its first delivery. Default: ten times `for`.'),
});

/** The keys of an automation that control the flow of its runs. */
export const runFlowFields = {
  concurrency: z
    .int()
    .min(1)
    .max(concurrencyMax)
    .optional()
    .describe('Maximum number of its runs at a time. The others wait.'),
  concurrencyKey: fieldPath
    .optional()
    .describe('`concurrency` limits the runs with the same value in this field of the payload.'),
  order: fieldPath
    .optional()
    .describe(
      'Runs with the same value in this field of the payload start in the order of their deliveries, each when the one before has ended.',
    ),
  onFailure: z
    .enum(['continue', 'hold'])
    .optional()
    .describe('The effect of a failed run on those behind it in the `order`.')
    .meta({
      enumDescriptions: [
        'The next run starts. This is the default.',
        'The others wait until the failed run is retried with success, or dismissed.',
      ],
    }),
  debounce: debounce.optional().describe('One run for a burst of deliveries, with all of them attached.'),
  runsPerHour: z
    .int()
    .min(1)
    .max(runsPerHourMax)
    .optional()
    .describe('A fuse: further runs within an hour fail without an attempt, and an alert says so.'),
};

const runFlowShape = z.object(runFlowFields);

export type RunFlowKeys = z.output<typeof runFlowShape>;

/** Picks the keys of an automation that control the flow of its runs; undefined if it has none. */
export function pickRunFlow(automation: RunFlowKeys): RunFlowKeys | undefined {
  const keys = runFlowShape.parse(automation);
  return Object.keys(keys).length === 0 ? undefined : keys;
}

/** A key with the time that it has. */
type Time = readonly [string, string | undefined];
type CheckedKeys = Partial<RunFlowKeys> & {
  readonly backOff?: { readonly first?: string | undefined; readonly max?: string | undefined } | undefined;
};

/** Checks the rules about several keys. */
export function checkRunFlow(keys: CheckedKeys, context: z.RefinementCtx): void {
  const require = (key: string, needed: keyof RunFlowKeys, example: string) =>
    addMistake(context, [key], `${key} has no effect without ${needed}`, {
      ...{ code: 'definition/missing-key', atKey: true, hint: `add ${needed}: ${example}` },
    });
  const requireAtLeast = (key: keyof CheckedKeys, [lower, low]: Time, [upper, high]: Time) => {
    const [lowMs, highMs] = [low, high].map(text => parseDurationMs(text ?? ''));
    if (lowMs === undefined || highMs === undefined || highMs >= lowMs) return;
    const hint = `write at least ${low}, or remove ${upper}`;
    addMistake(context, [key, upper], `${upper} is shorter than ${lower}`, {
      code: 'definition/value',
      hint,
    });
  };
  const { concurrency, concurrencyKey, order, onFailure, debounce, backOff } = keys;
  if (concurrencyKey !== undefined && concurrency === undefined)
    require('concurrencyKey', 'concurrency', '1');
  if (onFailure !== undefined && order === undefined) require('onFailure', 'order', '$.issue.id');
  requireAtLeast('debounce', ['for', debounce?.for], ['atMost', debounce?.atMost]);
  requireAtLeast('backOff', ['first', backOff?.first], ['max', backOff?.max]);
}
