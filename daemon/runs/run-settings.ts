import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { addMistake } from '../../schema/definitions/add-mistake.ts';
import { type RunControl, runAttemptsMax } from '../../schema/definitions/automation-definition.ts';
import { fieldPath } from '../../schema/definitions/field-path-shape.ts';
import { secretNameShape } from '../../schema/definitions/value-shapes.ts';
import { defaultRunner } from '../../schema/delivery.ts';
import { namePattern, nameRule } from '../../schema/names.ts';
import { isPassedVariable, isProgram } from '../../schema/secret-reference.ts';
import { parseDurationMs } from '../../schema/time-units.ts';
import { checkRepository, repositoryFields } from '../../sources/repository/followed-repository.ts';
import type { OfferedRunner } from '../../store/ports/daemon-records.ts';
import { count, outputBytes, seconds } from '../setting-shapes.ts';
import { httpRunnerShape } from './runners/http-settings.ts';
import { listTemplateSecrets } from './runners/http-template.ts';

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
/** @limit Default time for which a run waits for a daemon that offers its runner, in seconds: a deployment is over by then. */
const runnerWaitSeconds = 3_600;
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

const secretVariables = z.record(z.string(), secretNameShape).superRefine((all, context) => {
  for (const name of Object.keys(all)) {
    if (isPassedVariable(name)) continue;
    addMistake(context, [name], 'not a variable name that can be passed to the command', {
      ...{ code: 'definition/value', atKey: true },
      hint: 'write it as in GH_TOKEN; HOOKMILL_ variables are set by hookmill itself',
    });
  }
});

/** A mapping whose keys are names as automations have them. */
function named<T extends z.ZodType>(value: T) {
  return z.record(z.string(), value).superRefine((all, context) => {
    for (const name of Object.keys(all)) {
      if (namePattern.test(name)) continue;
      addMistake(context, [name], `"${name}" is not a valid name`, {
        ...{ code: 'definition/value', atKey: true },
        hint: `use ${nameRule}`,
      });
    }
  });
}

const account = z.union([z.int().min(0), z.string().regex(/^[A-Za-z0-9_][\w.-]*$/)]).transform(String);

const directoryRunnerShape = z.strictObject({ kind: z.literal('directory') });

const runnerRepositoryShape = z.strictObject(repositoryFields).superRefine(checkRepository);

const workspaceShape = z
  .strictObject({
    ...repositoryFields,
    repository: repositoryFields.repository.optional(),
    repositories: named(runnerRepositoryShape)
      .optional()
      .describe('Repositories by name, of which an automation chooses one with `repository`.'),
    ref: fieldPath.describe(
      'Path of the field of the payload that names the commit or branch, such as $.after.',
    ),
    automations: z
      .array(z.string())
      .optional()
      .describe('Names of the automations whose runs get it; by default, all.'),
  })
  .superRefine(({ repository, repositories, ...own }, context) => {
    const mistake = (key: string, message: string, hint: string) =>
      addMistake(context, [key], message, { code: 'definition/value', hint, atKey: true });
    if (repository !== undefined) checkRepository({ repository, ...own }, context);
    else if (repositories === undefined)
      addMistake(context, ['repository'], 'the key "repository" is missing', {
        ...{ code: 'definition/missing-key', atKey: true },
        hint: 'add repository, or repositories among which automations choose',
      });
    if (repositories === undefined) return;
    if (repository !== undefined)
      mistake('repositories', 'give either repository or repositories', 'remove one of them');
    else if (own.credentialSecret !== undefined)
      mistake('credentialSecret', 'each of the repositories has its own credential', 'move it there');
  });

/** The keys of a program that the daemon starts for a run. */
const programFields = {
  argv: argv.describe('Program and arguments, run without a shell.'),
  environment: z
    .array(passedVariable)
    .default([])
    .describe("Names of variables in the daemon's environment that the command gets too."),
  secretEnvironment: secretVariables
    .optional()
    .describe('Variables of the command whose values are team secrets, each with the name of one.'),
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
  timeLimitSeconds: seconds.default(runCommandSeconds).describe('Time limit for one attempt, in seconds.'),
  outputBytes,
};

/** @limit Time to approve what a run left, in days: somebody is back from a holiday, and its delivery is not kept for ever. */
const approvalDays = 7;
/** @limit Longest time to approve what a run left that an operator can set, in days. */
const approvalDaysMax = 90;

const afterwardsShape = z.strictObject({
  ...programFields,
  approval: z
    .enum(['required'])
    .optional()
    .describe('`required`: it waits until somebody with the permission manage has approved the run.'),
  approvalDays: z
    .number()
    .positive()
    .max(approvalDaysMax)
    .default(approvalDays)
    .describe('Time to approve a run, in days; after that it is cancelled.'),
});

const commandRunnerShape = z.strictObject({
  kind: z.literal('command'),
  ...programFields,
  keep: z
    .boolean()
    .default(false)
    .describe(
      "Whether an attempt finds what earlier ones left: in the run's directory, and in the home directory of the user, which all runs then share.",
    ),
  workspace: workspaceShape.optional().describe('Working copy of a repository that each run gets.'),
  afterwards: afterwardsShape
    .optional()
    .describe(
      'A second command, which acts on the artifacts that the first one left, and gets nothing else.',
    ),
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

/** The bounds of a runner, whatever it executes. */
const boundFields = {
  concurrency: count
    .max(runsConcurrentMax)
    .default(runsConcurrent)
    .describe('Maximum number of runs executed at the same time.'),
  attempts: count
    .max(runAttemptsMax)
    .default(runAttempts)
    .describe('Maximum number of attempts at a run; after that it has failed.'),
  backOff: backOffShape.prefault({}).describe('Wait after a failed attempt, minus up to 50 % random jitter.'),
};

const nameGlobs = z.array(
  z.string().regex(/^[a-z0-9*-]+$/, { error: `use ${nameRule}; * stands for any text` }),
);

const namedRunnerFields = {
  factories: nameGlobs
    .default([])
    .describe('Factories whose automations may use it; * stands for any text. By default, none.'),
  automations: nameGlobs
    .default(['*'])
    .describe('Automations of these factories that may use it; * stands for any text. By default, all.'),
  ...boundFields,
};

const namedRunners = named(
  z.discriminatedUnion('kind', [
    directoryRunnerShape.extend(namedRunnerFields),
    commandRunnerShape.extend(namedRunnerFields),
    httpRunnerShape.safeExtend(namedRunnerFields),
  ]),
).superRefine((runners, context) => {
  if (!Object.hasOwn(runners, defaultRunner)) return;
  const message = `${defaultRunner} is the name of runs.runner`;
  const hint = 'give it another name';
  addMistake(context, [defaultRunner], message, { code: 'definition/value', hint, atKey: true });
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
      .describe('How an attempt at a run is executed, unless its automation names a runner.'),
    ...boundFields,
    runnerWaitSeconds: z
      .number()
      .min(0)
      .default(runnerWaitSeconds)
      .describe(
        'Time for which a due run waits while no daemon offers its runner, in seconds; then it fails.',
      ),
    runners: namedRunners
      .default({})
      .describe('Further runners by name, which automations choose with `runner`.'),
  })
  .superRefine((settings, context) => {
    for (const runner of listRunners(settings))
      for (const { program, path } of listPrograms(runner))
        checkUser(program, settings.directory, path, context);
  });

function checkUser(
  program: Pick<ProgramSettings, 'user' | 'group' | 'processes'>,
  directory: string | undefined,
  path: readonly string[],
  context: z.RefinementCtx,
): void {
  const mistake = (key: string, message: string, hint: string) =>
    addMistake(context, [...path, key], message, { code: 'definition/value', hint });
  for (const key of ['group', 'processes'] as const) {
    if (program.user === undefined && program[key] !== undefined)
      mistake(key, `${key} needs user`, 'name the user that the command runs as');
  }
  if (program.user !== undefined && directory === undefined)
    mistake(
      'user',
      'user needs runs.directory, because other users cannot enter the home',
      'name a directory outside the home, such as /var/lib/hookmill-runs',
    );
}

export type RunSettings = z.output<typeof runSettingsShape>;

/** The settings of one runner. */
export interface RunnerSettings extends Pick<RunSettings, 'concurrency' | 'attempts' | 'backOff'> {
  readonly name: string;
  /** Where they are in the key `runs`. */
  readonly path: readonly string[];
  readonly runner: RunSettings['runner'];
  readonly factories: readonly string[];
  readonly automations: readonly string[];
}

/** Lists the runners that the settings describe, the default one first. */
export function listRunners({
  runner,
  runners,
  concurrency,
  attempts,
  backOff,
}: Omit<RunSettings, 'directory'>): RunnerSettings[] {
  const all = ['*'];
  const own = { runner, concurrency, attempts, backOff, factories: all, automations: all };
  const named = Object.entries(runners).map(
    ([name, { factories, automations, concurrency, attempts, backOff, ...runner }]) => ({
      ...{ name, path: ['runners', name], factories, automations, concurrency, attempts, backOff },
      runner,
    }),
  );
  return [{ name: defaultRunner, path: ['runner'], ...own }, ...named];
}

/** Lists the programs that a runner starts, each with the place of its settings in the key `runs`. */
export function listPrograms({ runner, path }: Pick<RunnerSettings, 'runner' | 'path'>): readonly {
  program: ProgramSettings;
  path: readonly string[];
}[] {
  if (runner.kind !== 'command') return [];
  const { afterwards } = runner;
  const second = afterwards ? [{ program: afterwards, path: [...path, 'afterwards'] }] : [];
  return [{ program: runner, path }, ...second];
}

/** Lists the team secrets that a runner needs. */
export function listSecrets({ runner }: Pick<RunnerSettings, 'runner'>): readonly string[] {
  if (runner.kind === 'directory') return [];
  const names =
    runner.kind === 'command'
      ? [
          ...Object.values(runner.secretEnvironment ?? {}),
          ...Object.values(runner.afterwards?.secretEnvironment ?? {}),
          runner.workspace?.credentialSecret,
          ...Object.values(runner.workspace?.repositories ?? {}).map(one => one.credentialSecret),
        ]
      : [
          runner.secretUrl,
          ...Object.values(runner.secretHeaders ?? {}).map(one =>
            typeof one === 'string' ? one : one.secretName,
          ),
          ...listTemplateSecrets(runner.template),
        ];
  return [...new Set(names.filter(name => name !== undefined))];
}

/** The runner as automations choose it. */
export function toOffered({ name, runner, factories, automations, attempts }: RunnerSettings): OfferedRunner {
  const { repositories = {} } = (runner.kind === 'command' && runner.workspace) || {};
  return {
    name,
    kind: runner.kind,
    factories: [...factories],
    automations: [...automations],
    repositories: Object.keys(repositories),
    attempts,
    ...(runner.kind !== 'directory' && { timeLimitSeconds: findTimeLimitSeconds(runner) }),
  };
}

/** The operator's time limit for an attempt: that of its receiver, if it may go on. */
function findTimeLimitSeconds(runner: Exclude<RunSettings['runner'], { kind: 'directory' }>): number {
  const { callback } = runner.kind === 'http' ? runner : {};
  return (callback ?? runner).timeLimitSeconds;
}

export type CommandRunnerSettings = z.output<typeof commandRunnerShape>;
export type AfterwardsSettings = z.output<typeof afterwardsShape>;
export type ProgramSettings = Omit<AfterwardsSettings, 'approval' | 'approvalDays'>;
export type WorkspaceSettings = z.output<typeof workspaceShape>;

/**
 * Whether a repeated attempt finds the run's directory as it was. Nobody runs in the directory unless a command does; who
 * acts on it may be at work when the daemon repeats an attempt that it could not record.
 */
export function keepsDirectories({ runner }: Pick<RunnerSettings, 'runner'>): boolean {
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
