import type { Transport } from '../repository.ts';

/** What git's own variables an operator may use: how to authenticate, whom to trust, where the configuration is. */
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

const ownVariables = ['GIT_DIR', 'GIT_TERMINAL_PROMPT', 'GIT_ALLOW_PROTOCOL'] as const;

/** The names that simple-git has to let pass: it drops every other variable that steers git. */
export const gitVariables: readonly string[] = [...operatorVariables, ...ownVariables];

/** Sent by HTTPS as the password, by the credential helper in the mirror's configuration. */
export interface GitCredential {
  readonly username: string;
  readonly password: string;
}

/** Names of the variables that the credential helper reads. */
export const usernameVariable = 'HOOKMILL_GIT_USERNAME';
export const passwordVariable = 'HOOKMILL_GIT_PASSWORD';

/**
 * The environment of a git process: the operator's, without what is hookmill's own business (its key among it) and
 * without what would let git prompt, page, edit, or look elsewhere than at the mirror.
 */
export function gitEnvironment(
  ambient: NodeJS.ProcessEnv,
  mirror: string,
  transport: Transport,
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

const prompting = new Set(['EDITOR', 'VISUAL', 'PAGER', 'PREFIX', 'SSH_ASKPASS', 'DISPLAY']);

function isPassedOn(name: string): boolean {
  if (name.startsWith('HOOKMILL_') || prompting.has(name)) return false;
  return !name.startsWith('GIT_') || operatorVariables.some(variable => variable === name);
}
