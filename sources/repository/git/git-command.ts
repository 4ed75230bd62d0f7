import { fileURLToPath } from 'node:url';
import { GitPluginError, type SimpleGit, simpleGit } from 'simple-git';
import { passwordVariable } from './git-environment.ts';

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
  /** The remote answers with a web page, or lists no branches. */
  | 'no-branches'
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
const gitCommandMs = 60_000;
/** @limit Most output of one git command, in bytes: enough for the listing and contents of a factory's definition files. */
export const gitOutputBytesMax = 16 * 1024 * 1024;
/** @limit Time after the end of git for a process that left its session to close the output, in ms: an ssh that others share lives on. */
const outputDrainMs = 1_000;
/** @limit Time between two checks of a running git command, in ms: a fetch writes little in a second. */
const watchMs = 1_000;
/** @limit Most characters kept of git's error message: its first lines say why git failed. */
const gitMessageCharsMax = 1_000;

export interface GitCommand {
  /** The directory in which git runs. */
  readonly directory: string;
  /** All variables that git gets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  /** By default, as for a command that only reads the repository. */
  readonly timeoutMs?: number;
  /** Settings for this command only, as `key=value`. */
  readonly settings?: readonly string[];
  /** Exit codes that are no failure, besides 0. */
  readonly exitCodes?: readonly number[];
  readonly input?: string;
  /** Runs git in a session of its own (`git-session.sh`), with these words before it. For a git that starts other processes; it gets no input. */
  readonly session?: { readonly prefix: readonly string[] };
  /** Called every second; a failure that it returns ends the command. */
  readonly watch?: () => Promise<GitFailure | undefined>;
}

/**
 * Runs one git command through simple-git, within its limits of time and output. Fails with a `GitFailure`, also if
 * another process killed git.
 */
export async function runGit<T>(command: GitCommand, task: (git: SimpleGit) => PromiseLike<T>): Promise<T> {
  const { signal, watch } = command;
  const ending = new AbortController();
  const end = (failure: GitFailure) => ending.abort(failure);
  const stop = () => end(new GitFailure('stopped', 'hookmill is stopping'));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  const watching = watch && watchEverySecond(watch, end);
  try {
    return await task(openGit(command, ending.signal, end));
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : toGitFailure(error, command);
  } finally {
    clearInterval(watching);
    signal?.removeEventListener('abort', stop);
  }
}

function openGit(command: GitCommand, abort: AbortSignal, end: (failure: GitFailure) => void): SimpleGit {
  const { directory, environment, input, session, settings = [], exitCodes = [] } = command;
  const git = simpleGit({
    baseDir: directory,
    abort,
    timeout: { block: command.timeoutMs ?? gitCommandMs, stdOut: false, stdErr: false },
    completion: { onClose: true, onExit: outputDrainMs },
    ...(session && { binary: ['/bin/sh', sessionScript] }),
    // The repository's own configuration may be hostile: fsmonitor is a command that git would start.
    config: ['core.fsmonitor=false', ...settings],
    allowEnvironment: Object.keys(environment),
    unsafe: trusted,
    input: () => input,
    // By default, simple-git counts a killed process, which has no exit code, as successful.
    errors: (error, { exitCode, stdErr }) => {
      if (error instanceof GitPluginError) return error;
      if (exitCode === 0 || exitCodes.includes(exitCode)) return undefined;
      return Buffer.concat(stdErr.length > 0 ? stdErr : [Buffer.from(`git exited with ${exitCode}`)]);
    },
  });
  return git
    .env(session ? { ...environment, HOOKMILL_GIT_PREFIX: session.prefix.join('\n') } : environment)
    .outputHandler((_, stdout, stderr) => {
      limitOutput([stdout, stderr], end);
      // Without any output, simple-git would wait 50 ms more for some.
      stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
    });
}

const sessionScript = fileURLToPath(new URL('git-session.sh', import.meta.url));

/** The settings and variables that simple-git lets through. They are our own and the operator's, not a stranger's. */
const trusted = Object.fromEntries(
  [
    ...['Alias', 'AskPass', 'CommandBinaries', 'ConfigEnvCount', 'ConfigPaths', 'CredentialHelper'],
    ...['CustomBinary', 'DiffExternal', 'DiffTextConv', 'Editor', 'Exec', 'Filter', 'FsMonitor'],
    ...['GitProxy', 'GpgProgram', 'HooksPath', 'Include', 'MergeDriver', 'Pack', 'Pager', 'ProtocolOverride'],
    ...['SshCommand', 'Submodule', 'TemplateDir', 'UrlRewrite'],
  ].map(name => [`allowUnsafe${name}`, true]),
);

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

function toGitFailure(error: unknown, { environment, timeoutMs = gitCommandMs }: GitCommand): GitFailure {
  if (error instanceof GitPluginError && error.plugin === 'timeout')
    return new GitFailure('timeout', `git timed out after ${timeoutMs / 1000} s`, { cause: error });
  const said = error instanceof Error ? error.message.trim() : String(error);
  // The server knows the password and may repeat it.
  const password = environment[passwordVariable];
  const text = password ? said.replaceAll(password, '***') : said;
  if (/^git cannot be run: |spawn git ENOENT/.test(text)) {
    return new GitFailure('git-missing', 'git cannot be executed; install git', { cause: error });
  }
  if (/not valid: is this a git repository\?|url base from redirection|bad line length character/.test(text))
    return noBranches();
  const isSignIn = /could not read (?:Username|Password)|Authentication failed/.test(text);
  const remedy = isSignIn ? '\nName the team secret with its credential: --credential-secret' : '';
  return new GitFailure('refused', `${text.slice(0, gitMessageCharsMax)}${remedy}`, { cause: error });
}

export function noBranches(): GitFailure {
  const message = 'this URL lists no branches; is it a git repository, does it want a sign-in?';
  return new GitFailure('no-branches', message);
}
