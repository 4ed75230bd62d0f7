import { fileURLToPath } from 'node:url';
import { type SimpleGit, simpleGit } from 'simple-git';
import { gitVariables, passwordVariable } from './git-environment.ts';
import { GitFailure } from './git-failure.ts';

/** @limit Time limit for one git command other than a fetch, in ms: each takes well under a second. */
export const gitCommandMs = 60_000;
/** @limit Most output of one git command, in bytes: enough for the listing and contents of a factory's definition files. */
export const gitOutputBytesMax = 16 * 1024 * 1024;
/** @limit Time between two checks of a running git command, in ms: a fetch writes little in a second. */
const watchMs = 1_000;
/** @limit Most characters kept of git's error message: its first lines say why git failed. */
const gitMessageCharsMax = 1_000;

export interface GitCommand {
  /** The directory in which git runs, which is the mirror. */
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Whether git talks to a remote; then its helper processes must be killed with it. */
  readonly remote?: boolean;
  readonly input?: string;
  /** Called every second; a failure that it returns ends the command. */
  readonly watch?: () => Promise<GitFailure | undefined>;
}

/**
 * Runs one git command through simple-git, within its limits of time and output. Fails with a `GitFailure`, also if
 * another process killed git.
 */
export async function runGit<T>(command: GitCommand, task: (git: SimpleGit) => PromiseLike<T>): Promise<T> {
  if (command.signal.aborted) throw stopped();
  const ending = new AbortController();
  const end = (failure: GitFailure) => ending.abort(failure);
  const stop = () => end(stopped());
  command.signal.addEventListener('abort', stop);
  const timeout = setTimeout(() => end(tooSlow(command.timeoutMs)), command.timeoutMs);
  const watch = command.watch && watchEverySecond(command.watch, end);
  try {
    return await task(openGit(command, ending.signal, end));
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : toGitFailure(error, command.environment);
  } finally {
    clearTimeout(timeout);
    clearInterval(watch);
    command.signal.removeEventListener('abort', stop);
  }
}

function openGit(command: GitCommand, signal: AbortSignal, end: (failure: GitFailure) => void): SimpleGit {
  const { directory, environment, remote, input } = command;
  const git = simpleGit({
    baseDir: directory,
    ...(remote && { binary: [process.execPath, launcher] }),
    abort: signal,
    // Waits for the streams to close, because output may follow the exit.
    completion: { onClose: true, onExit: false },
    allowEnvironment: gitVariables,
    // The custom binary is the launcher; the variables are the operator's (git-environment.ts).
    unsafe: {
      allowUnsafeCustomBinary: true,
      allowUnsafeSshCommand: true,
      allowUnsafeAskPass: true,
      allowUnsafeConfigPaths: true,
    },
    input: () => input,
    // By default, simple-git counts a killed process, which has no exit code, as successful.
    errors: (error, { exitCode, stdErr }) => {
      if (error || exitCode === 0) return error;
      return Buffer.concat(stdErr.length > 0 ? stdErr : [Buffer.from(`git exited with ${exitCode}`)]);
    },
  });
  return git.env(environment).outputHandler((_, stdout, stderr) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > gitOutputBytesMax)
        end(new GitFailure('too-large', `git printed more than ${gitOutputBytesMax} bytes`));
    };
    stdout.on('data', count);
    stderr.on('data', count);
  });
}

const launcher = fileURLToPath(new URL('./git-launcher.js', import.meta.url));

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
