import { lchown } from 'node:fs/promises';
import { execa } from 'execa';
import { takeBack } from '../../../store/home/run-files.ts';
import { SettingsError } from '../../setting-shapes.ts';
import { commandProcesses, type ProgramSettings } from '../run-settings.ts';

/** @limit Time limit for each look at the user of commands when the daemon starts, in ms: a directory service may be slow. */
const lookMs = 10_000;

/** The user that commands run as. */
export interface CommandUser {
  readonly uid: number;
  /** Whether each program has processes of its own, all of which end with it. */
  readonly isApart: boolean;
  /** The words to put before a program, so that it runs as this user. */
  readonly prefix: readonly string[];
  /** The variables that name the user. */
  readonly variables: Readonly<Record<string, string>>;
  /** Makes the user the owner of everything in a directory, which nobody but the daemon could enter until now. */
  give(directory: string): Promise<void>;
  /** Lets the user into a run's directory. Returns a function that takes it back. */
  lend(directory: string): Promise<() => Promise<void>>;
}

/**
 * Looks up the user of commands, and tries whether a program can be run as that user and enter the directory of runs.
 * Fails with SettingsError if not. `setting`: the place of the runner's settings.
 */
export async function openCommandUser(
  { user, group, processes = commandProcesses }: Pick<ProgramSettings, 'user' | 'group' | 'processes'>,
  setting: string,
  runsDirectory: string,
  { PATH }: NodeJS.ProcessEnv,
): Promise<CommandUser> {
  const refuse = (key: 'user' | 'group', message: string) =>
    new SettingsError(`${setting}.${key}: ${message}`);
  const [name = '', , uid = '', mainGid = '', , home = '/'] = await lookUp('passwd', `${user}`, refuse, PATH);
  const gid = group === undefined ? mainGid : ((await lookUp('group', group, refuse, PATH))[2] ?? '');
  if (uid === '0' || Number(uid) === process.getuid?.())
    throw refuse('user', `${user} is root or the user of the daemon; name a user that has no other use`);
  const drop = dropTo(uid, gid, processes);
  const isApart = (await tryOut([...apart, ...drop, 'true'], PATH)) === undefined;
  const prefix = [...(isApart ? apart : []), ...drop];
  const failure = await tryOut([...prefix, 'true'], PATH);
  if (failure !== undefined)
    throw refuse('user', `cannot run a program as ${user}: ${failure}; start the daemon as root`);
  if ((await tryOut([...prefix, 'test', '-x', runsDirectory], PATH)) !== undefined)
    throw refuse('user', `${user} cannot enter ${runsDirectory}; set runs.directory to one outside the home`);
  return {
    uid: Number(uid),
    isApart,
    prefix,
    variables: { HOME: home, USER: name, LOGNAME: name },
    give: async directory => {
      await execa('chown', ['-R', '-P', `${uid}:${gid}`, '--', directory]);
    },
    lend: async directory => {
      await lchown(directory, Number(uid), Number(gid));
      return () => takeBack(directory);
    },
  };
}

/**
 * Words that start a program among processes of its own (`pid_namespaces(7)`), which all end with it, or with the
 * daemon, and see no others. The shell is the first of them: it collects those that lost their parent.
 */
const apart: readonly string[] = [
  ...['setpriv', '--pdeathsig', 'KILL'],
  ...['unshare', '--mount-proc', '--pid', '--fork', '--kill-child=KILL'],
  ...['sh', '-c', '"$@"; exit $?', 'sh'],
];

/** Words that start a program as another user, without a way back to more rights, and with a limit of processes. */
function dropTo(uid: string, gid: string, processes: number): string[] {
  const without = ['--clear-groups', '--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs'];
  return ['prlimit', `--nproc=${processes}`, 'setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...without, '--'];
}

/** Looks up the fields of an entry in the system's database of users or groups. */
async function lookUp(
  database: 'passwd' | 'group',
  key: string,
  refuse: (key: 'user' | 'group', message: string) => SettingsError,
  PATH: string | undefined,
): Promise<string[]> {
  const setting = database === 'passwd' ? 'user' : 'group';
  const { stdout, exitCode, code } = await look(['getent', database, key], PATH);
  if (exitCode === 0) return stdout.split(':');
  if (exitCode !== 2) throw refuse(setting, `getent failed (${exitCode ?? code})`);
  const create = { user: 'useradd --system --create-home', group: 'groupadd --system' }[setting];
  const remedy = /^\d+$/.test(key) ? '' : `; create it: ${create} ${key}`;
  throw refuse(setting, `there is no ${setting} "${key}"${remedy}`);
}

/** Runs a program to its end. Returns why it failed; undefined if it did not. */
async function tryOut(words: readonly string[], PATH: string | undefined): Promise<string | undefined> {
  const { exitCode, stderr, code } = await look(words, PATH);
  return exitCode === 0 ? undefined : stderr.trim() || `${words[0]} failed (${exitCode ?? code})`;
}

function look([program = '', ...words]: readonly string[], PATH: string | undefined) {
  const options = { env: { PATH }, extendEnv: false, reject: false, timeout: lookMs, cwd: '/' } as const;
  return execa(program, words, options);
}
