import type { Command } from 'commander';
import { UsageError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** A daemon's management API, and the token to use it with. */
export interface Server {
  readonly url: string;
  readonly token: string;
}

/** Finds the server that `--server` or HOOKMILL_SERVER names, if any. */
export function findServer(command: Command): Server | undefined {
  const { server } = command.optsWithGlobals<GlobalOptions>();
  if (!server) return undefined;
  if (!isSafe(server)) {
    const reason = 'the token must not be sent unencrypted';
    throw new UsageError(`--server must be https://host, or http:// on this machine: ${reason}`);
  }
  const token = process.env.HOOKMILL_TOKEN?.trim();
  if (token) return { url: server.replace(/\/+$/, ''), token };
  throw new UsageError('--server requires an API token in HOOKMILL_TOKEN');
}

function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Whether the host of a URL is this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(host);
}
