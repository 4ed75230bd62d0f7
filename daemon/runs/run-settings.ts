import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { addMistake } from '../../schema/definitions/add-mistake.ts';
import { type RunControl, runAttemptsMax } from '../../schema/definitions/automation-definition.ts';
import { parseDurationMs } from '../../schema/definitions/duration.ts';
import { fieldPath } from '../../schema/definitions/field-path-shape.ts';
import { isPassedVariable, isProgram } from '../../schema/secret-reference.ts';
import { checkRepository, repositoryFields } from '../../sources/repository/followed-repository.ts';
import { count, outputBytes, seconds } from './runners/attempt-bounds.ts';
import { httpRunnerShape } from './runners/http-settings.ts';

/** @limit Runs executed at the same time: each may be a whole agent. */
const runsConcurrent = 4;
/** @limit Most runs that an operator can have executed at the same time: each may hold a process and its output. */
const runsConcurrentMax = 1_000;
/** @limit Attempts at a run before it counts as failed: most passing faults are over by the third. */
const runAttempts = 3;
/** @limit Wait before the second attempt at a run, in seconds; it doubles for each further attempt. */
const backOffFirstSeconds = 10;
/** @limit Longest wait between two attempts at a run, in seconds: a repaired receiver is tried again within ten minutes. */
const backOffSecondsMax = 600;
/** @limit Time limit for one attempt by a command, in seconds: it may be an agent at work. */
const runCommandSeconds = 600;

/** @limit Processes and threads that the user of commands may have, of all runs together: enough for four large builds. */
export const commandProcesses = 1_000;
/** @limit Most processes and threads that an operator can let the user of commands have: more than a machine should have. */
const commandProcessesMax = 100_000;

const argv = z.array(z.string()).superRefine(([program = ''], context) => {
  if (isProgram(program)) return;
  addMistake(context, [], 'argv must start with a program: an absolute path, or a name on PATH', {
    code: 'definition/value',
    hint: 'the command runs in a directory of its own, so a relative path cannot work',
  });
});

const passedVariable = z.string().superRefine((text, context) => {
  if (isPassedVariable(text)) return;
  addMistake(context, [], 'not a variable name that can be passed to the command', {
    code: 'definition/value',
    hint: 'write names without values; HOOKMILL_ variables, such as the key, are never passed on',
  });
});

const account = z.union([z.int().min(0), z.string().regex(/^[A-Za-z0-9_][\w.-]*$/)]).transform(String);

const directoryRunnerShape = z.strictObject({ kind: z.literal('directory') });

const workspaceShape = z
  .strictObject({
    ...repositoryFields,
    ref: fieldPath.describe(
      'Path of the field of the payload that names the commit or branch, such as $.after.',
    ),
    automations: z
      .array(z.string())
      .optional()
      .describe('Names of the automations whose runs get it; by default, all.'),
  })
  .superRefine(checkRepository);

const commandRunnerShape = z.strictObject({
  kind: z.literal('command'),
  argv: argv.describe('Program and arguments, run without a shell.'),
  environment: z
    .array(passedVariable)
    .default([])
    .describe("Names of variables in the daemon's environment that the command gets too."),
  user: account
    .optional()
    .describe("Name or uid of the user that the command runs as; without this key, the daemon's."),
  group: account.optional().describe('Name or gid of the group; by default, the main group of the user.'),
  processes: count
    .max(commandProcessesMax)
    .optional()
    .describe(
      `Maximum number of processes and threads of the user, of all runs together; by default, ${commandProcesses}.`,
    ),
  keep: z
    .boolean()
    .default(false)
    .describe(
      "Whether an attempt finds what earlier ones left: in the run's directory, and in the home directory of the user, which all runs then share.",
    ),
  workspace: workspaceShape.optional().describe('Working copy of a repository that each run gets.'),
  timeLimitSeconds: seconds.default(runCommandSeconds).describe('Time limit for one attempt, in seconds.'),
  outputBytes,
});

const backOffShape = z.strictObject({
  firstSeconds: seconds
    .default(backOffFirstSeconds)
    .describe('Wait before the second attempt, in seconds; it doubles for each further attempt.'),
  maxSeconds: seconds.default(backOffSecondsMax).describe('Longest wait between two attempts, in seconds.'),
});

const directory = z.string().superRefine((text, context) => {
  if (isAbsolute(text)) return;
  const hint = 'begin with /, as in /var/lib/hookmill-runs';
  addMistake(context, [], 'not an absolute path', { code: 'definition/value', hint });
});

/** The key `runs` of the daemon's configuration file. */
export const runSettingsShape = z
  .strictObject({
    directory: directory
      .optional()
      .describe('Directory of the directories of runs; by default, `runs` in the home.'),
    runner: z
      .discriminatedUnion('kind', [directoryRunnerShape, commandRunnerShape, httpRunnerShape])
      .prefault({ kind: 'directory' })
      .describe('How an attempt at a run is executed.'),
    concurrency: count
      .max(runsConcurrentMax)
      .default(runsConcurrent)
      .describe('Maximum number of runs executed at the same time.'),
    attempts: count
      .max(runAttemptsMax)
      .default(runAttempts)
      .describe('Maximum number of attempts at a run; after that it has failed.'),
    backOff: backOffShape
      .prefault({})
      .describe('Wait after a failed attempt, minus up to 50 % random jitter.'),
  })
  .superRefine(({ runner, directory }, context) => {
    if (runner.kind !== 'command') return;
    const mistake = (key: string, message: string, hint: string) =>
      addMistake(context, ['runner', key], message, { code: 'definition/value', hint });
    for (const key of ['group', 'processes'] as const) {
      if (runner.user === undefined && runner[key] !== undefined)
        mistake(key, `${key} needs user`, 'name the user that the command runs as');
    }
    if (runner.user !== undefined && directory === undefined)
      mistake(
        'user',
        'user needs runs.directory, because other users cannot enter the home',
        'name a directory outside the home, such as /var/lib/hookmill-runs',
      );
  });

export type RunSettings = z.output<typeof runSettingsShape>;
export type CommandRunnerSettings = z.output<typeof commandRunnerShape>;
export type WorkspaceSettings = z.output<typeof workspaceShape>;

/**
 * Whether a repeated attempt finds the run's directory as it was. Nobody runs in the directory unless a command does; who
 * acts on it may be at work when the daemon repeats an attempt that it could not record.
 */
export function keepsDirectories({ runner }: Pick<RunSettings, 'runner'>): boolean {
  return runner.kind !== 'command' || runner.keep;
}

/** Attempts and back-off of a run, as its automation says, bounded by the operator's settings. */
export function boundRetries(
  { attempts, backOff }: Pick<RunSettings, 'attempts' | 'backOff'>,
  { attempts: wanted = attempts, backOff: { first, max } = {} }: RunControl = {},
): Pick<RunSettings, 'attempts' | 'backOff'> {
  return {
    attempts: Math.min(attempts, wanted),
    backOff: {
      firstSeconds: toSeconds(first) ?? backOff.firstSeconds,
      maxSeconds: Math.min(backOff.maxSeconds, toSeconds(max) ?? backOff.maxSeconds),
    },
  };
}

function toSeconds(duration: string | undefined): number | undefined {
  const ms = duration === undefined ? undefined : parseDurationMs(duration);
  return ms === undefined ? undefined : ms / 1_000;
}
