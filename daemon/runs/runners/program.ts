import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import type { Run } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import { type MaskedOutput, maskSecrets } from '../masking.ts';
import {
  type RecordOutput,
  RunRecord,
  type RunRecordDeps,
  toUnattempted,
  withOutput,
} from '../run-record.ts';
import type { ProgramSettings } from '../run-settings.ts';
import type { CommandUser } from './command-user.ts';
import { endLeftovers } from './end-leftovers.ts';
import { explainMissingProgram } from './missing-program.ts';
import { openSecrets } from './open-secrets.ts';
import {
  type Attempt,
  type AttemptResult,
  boundTimeLimitMs,
  RunCancelled,
  requireNotCancelled,
} from './runner.ts';

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

export interface ProgramDeps extends RunRecordDeps {
  /** By default, the program runs as the daemon's user. */
  readonly user: CommandUser | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly store: Pick<Store, 'teamSecrets' | 'deliveries'>;
}

/** The input of a program: it starts in the directory, with the message on stdin. */
export type ProgramWork = Pick<Attempt, 'run' | 'directory' | 'message' | 'timeLimitMs'>;

interface ProgramVariables {
  /** Its home directory; the operator can name another one. */
  readonly home: string | undefined;
  /** Nothing that a sender wrote. */
  readonly others: Readonly<Record<string, string>>;
}

/** A program of the operator, with its user and its variables. */
export interface Program {
  /** Opens its team secrets for the factory of a run. Returns the result of the attempt instead if one cannot be used. */
  openSecrets(run: Pick<Run, 'factory'>): ReturnType<typeof openSecrets>;
  /**
   * Runs it without a shell. While it runs, the directory belongs to its user. Exit status 0 is success. It ends with its
   * first process; the rest of its process group is then killed. `finish` gets what came of it, before its output ends.
   */
  execute(
    work: ProgramWork,
    secrets: ReadonlyMap<string, string>,
    variables: ProgramVariables,
    signal: AbortSignal,
    finish: (result: AttemptResult, record: RunRecord) => Promise<AttemptResult>,
  ): Promise<AttemptResult>;
}

export function openProgram(
  settings: ProgramSettings,
  { user, environment, store, ...deps }: ProgramDeps,
): Program {
  const argv = [...(user?.prefix ?? []), ...settings.argv];
  const names = [...alwaysInherited, ...(user ? [] : inheritedByUser)];
  const inherited = { ...user?.variables, ...pick(environment, names) };
  const listed = pick(environment, settings.environment);
  const wanted = Object.entries(settings.secretEnvironment ?? {});
  return {
    openSecrets: run => openSecrets([...new Set(wanted.map(([, name]) => name))], run.factory, store),
    execute: async (work, secrets, { home, others }, signal, finish) => {
      const timeLimitMs = boundTimeLimitMs(settings, work);
      const secret = Object.fromEntries(
        wanted.map(([variable, name]) => [variable, secrets.get(name) ?? '']),
      );
      const own: Record<string, string> = home === undefined ? {} : { HOME: home };
      const env = { ...inherited, ...own, ...listed, ...secret, ...others };
      const takeBack = await user?.lend(work.directory);
      await requireNotCancelled(work.run, store);
      signal.throwIfAborted();
      const kept = {
        ...{ nowMs: deps.nowMs(), bytesMax: settings.outputBytes },
        onLost: (_: AttemptResult, error: unknown) => toUnattempted(error),
      };
      const record = new RunRecord(work.run, maskSecrets([...secrets.values()]), deps);
      return withOutput(record, work.run, kept, async output => {
        const options = { env, output, timeLimitMs, signal };
        const ended = await runCommand(argv, work, options).finally(takeBack);
        if (user && !user.isApart) await endLeftovers({ ...work.run, claims: work.run.claims + 1 }, signal);
        const missing = ended.code && (await explainMissingProgram(settings.argv[0] ?? '', env));
        return finish(toResult(ended, { timeLimitMs, missing, signal }), record);
      });
    },
  };
}

interface CommandOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly output: Pick<RecordOutput, 'openStream'>;
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

async function runCommand(
  [program = '', ...programArguments]: readonly string[],
  { directory, message }: ProgramWork,
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
  const killSoon = () => {
    if (signal.reason instanceof RunCancelled) return;
    const timer = setTimeout(() => command.kill('SIGKILL'), stopGraceMs);
    command.nodeChildProcess.once('exit', () => clearTimeout(timer));
  };
  signal.addEventListener('abort', killSoon);
  collect(command.stdout, output.openStream());
  collect(command.stderr, output.openStream());
  command.nodeChildProcess.once('exit', () => {
    command.kill('SIGKILL');
    closeSoon(command.stdout);
    closeSoon(command.stderr);
  });
  // A signal of AbortSignal.any with a listener lives as long as the daemon, and all that the listener refers to.
  return command.finally(() => signal.removeEventListener('abort', killSoon));
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

/** The variables about a run that each of its programs gets. */
export function createRunVariables(run: Run, traceparent?: string): Record<string, string> {
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
  };
}

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const entries = names.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
