import { constants } from 'node:os';
import { type SimpleGit, simpleGit } from 'simple-git';
import { gitVariables, passwordVariable } from './git-environment.ts';

export type GitFailureCode =
  /** Git cannot be executed. */
  | 'git-missing'
  /** The mirror's directory cannot be written: permissions, a full disk. */
  | 'mirror-unwritable'
  /** Git exceeded its time limit. */
  | 'timeout'
  /** A fetch or the output of git exceeded its limit. */
  | 'too-large'
  /** hookmill is stopping. */
  | 'stopped'
  /** Git failed; the message is its own. */
  | 'refused';

/** The reason why git failed. The message may contain a server's text: escape it before showing it. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly code: GitFailureCode;

  constructor(code: GitFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @limit Time limit for one git command other than a fetch, in ms: each takes well under a second. */
export const gitCommandMs = 60_000;
/** @limit Most output of one git command, in bytes: enough for the listing and contents of a factory's definition files. */
export const gitOutputBytesMax = 16 * 1024 * 1024;
/** @limit Time between two checks of a running git command, in ms: a fetch writes little in a second. */
const watchMs = 1_000;
/** @limit Most characters kept of git's error message: its first lines say why git failed. */
const gitMessageCharsMax = 1_000;

interface GitCommand {
  /** The directory in which git runs, which is the mirror. */
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly input?: string;
  /** Exit statuses of `runGit` other than 0 that are answers. */
  readonly exitCodes?: readonly number[];
  /** Called every second; a failure that it returns ends the command. */
  readonly watch?: () => Promise<GitFailure | undefined>;
}

/**
 * Runs one git command that reads the mirror, through simple-git, within its limits of time and output. Fails with a
 * `GitFailure`, also if another process killed git.
 */
export function runGit<T>(command: GitCommand, task: (git: SimpleGit) => PromiseLike<T>): Promise<T> {
  return runWithin(command, (signal, end) => task(openGit(command, signal, end)));
}

/**
 * Runs one git command that talks to a remote, within the same limits, and returns what it printed. Fails as `runGit` does.
 * Git starts helpers (git-remote-https, ssh, index-pack), which simple-git would leave behind if it killed git. So git is
 * the leader of a process group without a terminal, in which nothing can prompt, and the whole group ends with it.
 */
export function runRemoteGit(command: GitCommand, args: readonly string[]): Promise<string> {
  return runWithin(command, async (signal, end) => {
    const { execa } = await import('execa');
    const running = execa('/bin/sh', ['-c', groupScript, 'git', ...args], {
      ...{ cwd: command.directory, env: command.environment, extendEnv: false, buffer: false },
      ...{ cancelSignal: signal, killSignal: 'SIGKILL', killDescendants: true, reject: false },
      // Otherwise execa listens to the daemon's own signals.
      cleanup: false,
    });
    const { stdout, stderr } = running;
    const printed = { stdout: collect(stdout), stderr: collect(stderr) };
    limitOutput([stdout, stderr], end);
    running.nodeChildProcess.once('exit', () => running.kill('SIGKILL'));
    // A process that left the group could hold the pipes open.
    signal.addEventListener('abort', () => [stdout, stderr].map(stream => stream.destroy()), { once: true });
    const { failed, exitCode } = await running;
    if (failed) throw new Error(printed.stderr() || `git exited with ${exitCode}`);
    return printed.stdout();
  });
}

// The watcher in the background kills the group if hookmill is gone, and so the standard input ends. Git has a lower
// priority, so that a large fetch does not slow down the ingress.
const groupScript = `
command -v git >/dev/null || { echo 'git cannot be run: not found' >&2; exit 127; }
exec 3<&0 </dev/null
{ read -r line <&3; kill -KILL -$$; } >/dev/null 2>&1 &
exec nice -n ${constants.priority.PRIORITY_BELOW_NORMAL} git "$@" 3<&-
`;

async function runWithin<T>(
  command: GitCommand,
  run: (signal: AbortSignal, end: (failure: GitFailure) => void) => PromiseLike<T>,
): Promise<T> {
  if (command.signal.aborted) throw stopped();
  const ending = new AbortController();
  const end = (failure: GitFailure) => ending.abort(failure);
  const stop = () => end(stopped());
  command.signal.addEventListener('abort', stop);
  const timeout = setTimeout(() => end(tooSlow(command.timeoutMs)), command.timeoutMs);
  const watch = command.watch && watchEverySecond(command.watch, end);
  try {
    return await run(ending.signal, end);
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : toGitFailure(error, command.environment);
  } finally {
    clearTimeout(timeout);
    clearInterval(watch);
    command.signal.removeEventListener('abort', stop);
  }
}

function openGit(command: GitCommand, signal: AbortSignal, end: (failure: GitFailure) => void): SimpleGit {
  const { directory, environment, input, exitCodes = [] } = command;
  const git = simpleGit({
    baseDir: directory,
    abort: signal,
    // Waits for the streams to close, because output may follow the exit.
    completion: { onClose: true, onExit: false },
    allowEnvironment: gitVariables,
    // These variables are the operator's (git-environment.ts).
    unsafe: { allowUnsafeSshCommand: true, allowUnsafeAskPass: true, allowUnsafeConfigPaths: true },
    input: () => input,
    // By default, simple-git counts a killed process, which has no exit code, as successful.
    errors: (error, { exitCode, stdErr }) => {
      if (error || [0, ...exitCodes].includes(exitCode)) return error;
      return Buffer.concat(stdErr.length > 0 ? stdErr : [Buffer.from(`git exited with ${exitCode}`)]);
    },
  });
  return git.env(environment).outputHandler((_, stdout, stderr) => limitOutput([stdout, stderr], end));
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

function limitOutput(streams: readonly NodeJS.ReadableStream[], end: (failure: GitFailure) => void): void {
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > gitOutputBytesMax)
      end(new GitFailure('too-large', `git printed more than ${gitOutputBytesMax} bytes`));
  };
  for (const stream of streams) stream.on('data', count);
}

function watchEverySecond(
  watch: () => Promise<GitFailure | undefined>,
  end: (failure: GitFailure) => void,
): NodeJS.Timeout {
  return setInterval(() => {
    watch().then(
      failure => failure && end(failure),
      (cause: Error) => end(new GitFailure('refused', cause.message, { cause })),
    );
  }, watchMs);
}

function toGitFailure(error: unknown, environment: NodeJS.ProcessEnv): GitFailure {
  const said = error instanceof Error ? error.message.trim() : String(error);
  // The server knows the password and may repeat it.
  const password = environment[passwordVariable];
  const text = password ? said.replaceAll(password, '***') : said;
  if (/^git cannot be run: |spawn git ENOENT/.test(text)) {
    return new GitFailure('git-missing', 'git cannot be executed; install git', { cause: error });
  }
  return new GitFailure('refused', text.slice(0, gitMessageCharsMax), { cause: error });
}

function stopped(): GitFailure {
  return new GitFailure('stopped', 'hookmill is stopping');
}

function tooSlow(timeoutMs: number): GitFailure {
  return new GitFailure('timeout', `git timed out after ${timeoutMs / 1000} s`);
}
