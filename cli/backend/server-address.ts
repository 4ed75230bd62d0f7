import type { Command } from 'commander';
import { UsageError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** A daemon's management API, and the token to use it with. */
export interface Server {
  readonly url: string;
  /** Gets the token for one request. Fails with a CommandError if a CI host issues none. */
  getToken(): Promise<string>;
}

/** Finds the server that `--server` or HOOKMILL_SERVER names, if any. */
export function findServer(command: Command): Server | undefined {
  const { server } = command.optsWithGlobals<GlobalOptions>();
  if (!server) return undefined;
  if (!isSafe(server)) {
    const reason = 'the token must not be sent unencrypted';
    throw new UsageError(`--server must be https://host, or http:// on this machine: ${reason}`);
  }
  const url = server.replace(/\/+$/, '');
  const token = process.env.HOOKMILL_TOKEN?.trim();
  if (token) return { url, getToken: async () => token };
  const { ACTIONS_ID_TOKEN_REQUEST_URL: github, HOOKMILL_ID_TOKEN: other } = process.env;
  if (github || other) return { url, getToken: askRarely(() => askCiHost(url)) };
  const instead = 'a CI job can use a token of its host instead (docs/pull-requests.md)';
  throw new UsageError(`--server requires an API token in HOOKMILL_TOKEN; ${instead}`);
}

async function askCiHost(audience: string): Promise<string> {
  const { getCiToken } = await import('../ci-token.ts');
  return getCiToken(audience, process.env);
}

/** @limit Time for which a command uses the same token of a CI host, in ms: tokens of GitHub are valid for some minutes. */
const ciTokenMs = 60_000;

function askRarely(ask: () => Promise<string>): () => Promise<string> {
  let known: { readonly token: Promise<string>; readonly untilMs: number } | undefined;
  return () => {
    if (!known || known.untilMs <= Date.now()) known = { token: ask(), untilMs: Date.now() + ciTokenMs };
    return known.token;
  };
}

function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '' && isPrivate(text);
}

/** Whether nobody in between can read what is sent to a URL: it has https, or leads to this machine. */
export function isPrivate(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Whether the host of a URL is this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(host);
}
