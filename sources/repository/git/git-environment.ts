/** Git's variables that an operator may set: for authentication, for trust and for the configuration files. */
const operatorVariables = [
  'GIT_SSH_COMMAND',
  'GIT_SSH',
  'GIT_SSH_VARIANT',
  'GIT_ASKPASS',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_SSL_CERT',
  'GIT_SSL_KEY',
  'GIT_HTTP_PROXY_AUTHMETHOD',
] as const;

/** Sent over HTTPS by the credential helper in the mirror's configuration. */
export interface GitCredential {
  readonly username: string;
  readonly password: string;
}

/** The variables that the credential helper reads. */
export const usernameVariable = 'HOOKMILL_GIT_USERNAME';
export const passwordVariable = 'HOOKMILL_GIT_PASSWORD';

/**
 * The environment of a git process: the operator's, without hookmill's own variables (one of them is the key), and
 * without variables that let git prompt, page, edit or leave the mirror.
 */
export function makeGitEnvironment(
  ambient: NodeJS.ProcessEnv,
  mirror: string,
  transport: string,
  credential: GitCredential | undefined,
): NodeJS.ProcessEnv {
  const kept = Object.entries(ambient).filter(([name]) => isPassedOn(name.toUpperCase()));
  return {
    ...Object.fromEntries(kept),
    ...(credential && { [usernameVariable]: credential.username, [passwordVariable]: credential.password }),
    GIT_DIR: mirror,
    GIT_ALLOW_PROTOCOL: transport,
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}

/** The environment of a git process that only reads the user's own work tree. Git takes no lock there. */
export function makeReadingEnvironment(ambient: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(ambient).filter(([name]) => !isOwn(name));
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}

const promptVariables = new Set(['EDITOR', 'VISUAL', 'PAGER', 'PREFIX', 'SSH_ASKPASS', 'DISPLAY']);

function isPassedOn(name: string): boolean {
  if (isOwn(name) || promptVariables.has(name)) return false;
  return !name.startsWith('GIT_') || operatorVariables.some(variable => variable === name);
}

/** Whether a variable is hookmill's own. One of them is the key. */
function isOwn(name: string): boolean {
  return name.startsWith('HOOKMILL_');
}
