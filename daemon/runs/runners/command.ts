import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import {
  attachmentName,
  attachmentsName,
  headersAttachmentName,
  headersAttachmentsName,
} from '../../../schema/attachments.ts';
import type { DeliveryLog } from '../../../store/ports/delivery-log.ts';
import type { RunFiles } from '../../../store/ports/run-files.ts';
import type { Store } from '../../../store/ports/store.ts';
import type { CommandRunnerSettings } from '../run-settings.ts';
import { withOutput } from './attempt-output.ts';
import { keepResult } from './command-result.ts';
import type { CommandUser } from './command-user.ts';
import { endLeftovers } from './end-leftovers.ts';
import { type MaskedOutput, maskSecrets, openSecrets } from './http-secrets.ts';
import { explainMissingProgram } from './missing-program.ts';
import { type Attempt, type AttemptResult, boundTimeLimitMs, RunCancelled, type Runner } from './runner.ts';

/** @limit Pause after each read of output that is not kept, in ms: a command that writes without end then costs little CPU. */
const discardPauseMs = 1;
/** @limit Time from SIGTERM to SIGKILL for a command at its time limit, or when somebody cancels the run, in ms: an agent can save its work. */
const commandGraceMs = 10_000;
/** @limit Time from SIGTERM to SIGKILL for a command when the daemon stops, in ms: shorter than the daemon's own grace, so that it outlives its commands. */
const stopGraceMs = 5_000;
/** @limit Time after the end of a command for a process that left its group to close the output, in ms: it may live on. */
const outputDrainMs = 1_000;

/** Variables that every command gets from the daemon's environment. */
const alwaysInherited = ['PATH', 'LANG', 'TZ'];
/** Variables about the daemon's user, for commands that run as that user. */
const inheritedByUser = ['HOME', 'TMPDIR'];
/** The home directory of an attempt, in the run's directory. */
const homeName = 'home';

/** Makes something in a run's directory before its command starts. The variables tell the command where it is. */
export type PrepareCommand = (
  attempt: Attempt,
  signal: AbortSignal,
) => Promise<{ readonly failure?: AttemptResult; readonly variables?: Readonly<Record<string, string>> }>;

export interface CommandDeps {
  /** By default, the command runs as the daemon's user. */
  readonly user: CommandUser | undefined;
  readonly prepare: PrepareCommand | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly runFiles: Pick<RunFiles, 'appendOutput' | 'keepArtifacts' | 'listArtifacts' | 'readArtifact'>;
  readonly deliveryLog: Pick<DeliveryLog, 'recordReport'>;
  readonly store: Pick<Store, 'teamSecrets'>;
  readonly nowMs: () => number;
}

/**
 * Runs the operator's command for each attempt, in the run's directory, with a home directory of its own there unless the
 * settings say `keep`, and without a shell. It gets the message on stdin; nothing that a sender wrote is in its arguments
 * or environment. While it runs, the directory belongs to its user. Exit status 0 is success. The command ends with its
 * first process; the rest of its process group is then killed.
 */
export function createCommandRunner(
  settings: CommandRunnerSettings,
  { user, prepare, environment, runFiles, store, deliveryLog, nowMs }: CommandDeps,
): Runner {
  const argv = [...(user?.prefix ?? []), ...settings.argv];
  const names = [...alwaysInherited, ...(user ? [] : inheritedByUser)];
  const inherited = { ...user?.variables, ...pick(environment, names) };
  const listed = pick(environment, settings.environment);
  const wanted = Object.entries(settings.secretEnvironment ?? {});
  return async (attempt, signal) => {
    const timeLimitMs = boundTimeLimitMs(settings, attempt);
    const opened = await openSecrets(
      [...new Set(wanted.map(([, name]) => name))],
      attempt.run.factory,
      store,
    );
    if ('kind' in opened) return opened;
    const secrets = Object.fromEntries(wanted.map(([variable, name]) => [variable, opened.get(name) ?? '']));
    // First, while nobody else has been in the directory.
    const own = settings.keep ? undefined : { HOME: await makeHome(attempt, user) };
    const { failure, variables } = (await prepare?.(attempt, signal)) ?? {};
    if (failure) return failure;
    const env = { ...inherited, ...own, ...listed, ...secrets, ...createRunVariables(attempt), ...variables };
    const takeBack = await user?.lend(attempt.directory);
    return withOutput(runFiles, attempt, nowMs(), settings.outputBytes, async output => {
      const masking = maskSecrets([...opened.values()]);
      const masked = masking.output(output);
      const ended = await runCommand(argv, attempt, { env, output: masked, timeLimitMs, signal }).finally(
        takeBack,
      );
      await masked.flush();
      if (user && !user.isApart)
        await endLeftovers({ ...attempt.run, claims: attempt.run.claims + 1 }, signal);
      const missing = ended.code && (await explainMissingProgram(settings.argv[0] ?? '', env));
      const result = toResult(ended, { timeLimitMs, missing, signal });
      return keepResult(attempt, result, { runFiles, deliveryLog, nowMs, owner: user?.uid, masking });
    });
  };
}

async function makeHome({ directory }: Attempt, user: CommandUser | undefined): Promise<string> {
  const home = join(directory, homeName);
  await mkdir(home, { mode: 0o700 });
  await user?.give(home);
  return home;
}

interface CommandOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly output: MaskedOutput;
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

async function runCommand(
  [program = '', ...programArguments]: readonly string[],
  { directory, message }: Attempt,
  { env, output, timeLimitMs, signal }: CommandOptions,
): Promise<Ended> {
  const command = execa(program, programArguments, {
    cwd: directory,
    env,
    extendEnv: false,
    input: message,
    buffer: false,
    reject: false,
    // Each signal goes to the command's whole process group.
    killDescendants: true,
    // Otherwise execa listens to the daemon's own signals, and ends the daemon before it has stopped properly.
    cleanup: false,
    timeout: timeLimitMs,
    cancelSignal: signal,
    forceKillAfterDelay: commandGraceMs,
  });
  signal.addEventListener('abort', () => {
    if (signal.reason instanceof RunCancelled) return;
    const timer = setTimeout(() => command.kill('SIGKILL'), stopGraceMs);
    command.nodeChildProcess.once('exit', () => clearTimeout(timer));
  });
  collect(command.stdout, output);
  collect(command.stderr, output);
  command.nodeChildProcess.once('exit', () => {
    command.kill('SIGKILL');
    closeSoon(command.stdout);
    closeSoon(command.stderr);
  });
  return command;
}

/**
 * Reads the output to its end, so that the command does not block on a full pipe, but no faster than it is written. Pauses
 * while it discards output, so that a command that writes without end costs the daemon little time.
 */
function collect(stream: Readable, output: MaskedOutput): void {
  stream.on('data', async (chunk: Buffer) => {
    stream.pause();
    await output.write(chunk);
    if (output.isFull()) await sleep(discardPauseMs);
    stream.resume();
  });
}

/** Closes the pipe after a while: a process that left the group could hold it open for as long as it lives. */
function closeSoon(stream: Readable): void {
  const timer = setTimeout(() => stream.destroy(), outputDrainMs);
  stream.once('close', () => clearTimeout(timer));
}

interface Ended {
  readonly isCanceled: boolean;
  readonly timedOut: boolean;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly code?: string;
}

interface EndOptions extends Pick<CommandOptions, 'timeLimitMs' | 'signal'> {
  /** Why the program could not be started, if that is known. */
  readonly missing: string | undefined;
}

function toResult(
  ended: Ended,
  { timeLimitMs, missing, signal: { reason: why } }: EndOptions,
): AttemptResult {
  const { isCanceled, timedOut, exitCode, signal, code } = ended;
  if (isCanceled) {
    const what = why instanceof RunCancelled ? why.message : 'the daemon stopped';
    return { kind: 'retry', reason: `${what}, which ended the command` };
  }
  if (timedOut) {
    return {
      kind: 'retry',
      reason: `the command timed out after ${timeLimitMs / 1_000} s`,
    };
  }
  if (exitCode === 0) return { kind: 'succeeded' };
  if (exitCode !== undefined) return { kind: 'retry', reason: `the command exited with status ${exitCode}` };
  if (signal !== undefined) return { kind: 'retry', reason: `the command was killed by ${signal}` };
  const reason = `the command could not be started: ${missing ?? code}`;
  return { kind: shortages.has(code ?? '') ? 'unattempted' : 'retry', reason };
}

/** The machine has too little of something; the command itself may be right. */
const shortages: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

function createRunVariables({ run, directory, gathered, traceparent }: Attempt): Record<string, string> {
  return {
    ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    HOOKMILL_RUN_ID: run.id,
    HOOKMILL_DELIVERY_ID: run.deliveryId,
    HOOKMILL_WEBHOOK: run.webhook,
    HOOKMILL_AUTOMATION: run.automation,
    HOOKMILL_FACTORY: run.factory,
    HOOKMILL_ATTEMPT: String(run.attempts),
    HOOKMILL_FENCING_TOKEN: String(run.claims),
    HOOKMILL_RUNNER: run.runner,
    ...(run.lane !== undefined && { HOOKMILL_LANE: run.lane }),
    HOOKMILL_PAYLOAD_FILE: join(directory, attachmentName),
    HOOKMILL_HEADERS_FILE: join(directory, headersAttachmentName),
    ...(gathered > 0 && {
      HOOKMILL_PAYLOADS_DIR: join(directory, attachmentsName),
      HOOKMILL_HEADERS_DIR: join(directory, headersAttachmentsName),
    }),
  };
}

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const entries = names.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
