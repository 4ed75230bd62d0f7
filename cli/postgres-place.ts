import type { Command } from 'commander';
import type { PostgresPlace } from '../store/ports/store.ts';
import { UsageError } from './exit-status.ts';
import type { GlobalOptions } from './global-options.ts';

/**
 * Finds the database that `--store` or HOOKMILL_STORE names, if any. Messages never contain a URL: it has a password.
 */
export function findPostgres(command: Command, environment: NodeJS.ProcessEnv): PostgresPlace | undefined {
  const { store } = command.optsWithGlobals<GlobalOptions>();
  if (!store) return undefined;
  if (command.getOptionValueSourceWithGlobals('store') === 'cli') requireNoPassword('--store', store);
  else parseUrl('HOOKMILL_STORE', store);
  const directUrl = environment.HOOKMILL_STORE_DIRECT || undefined;
  if (directUrl !== undefined) parseUrl('HOOKMILL_STORE_DIRECT', directUrl);
  return { url: store, directUrl, mayLose: readMayLose(environment.HOOKMILL_STORE_MAY_LOSE) };
}

/** Operators must write this out to accept that deliveries may be lost. */
function readMayLose(text = ''): boolean {
  if (text === '' || text === 'accepted-deliveries') return text !== '';
  throw new UsageError('HOOKMILL_STORE_MAY_LOSE must be accepted-deliveries, or not set');
}

/** Refuses a URL of a database that is an argument and contains a password. */
export function requireNoPassword(flag: string, text: string): void {
  const url = parseUrl(flag, text);
  if (url.password === '' && !url.searchParams.has('password')) return;
  const reason = 'other users of this machine can read arguments';
  const instead = flag === '--store' ? 'set HOOKMILL_STORE' : `set HOOKMILL_STORE and write ${flag} postgres`;
  throw new UsageError(
    `${flag} must not contain a password, because ${reason}; ${instead}, or use a pgpass file`,
  );
}

function parseUrl(origin: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Without encoding, a / ? or # in the password ends the host, and a part of the password would be taken for its port.
  const isTorn = url && (url.hash !== '' || `${url.pathname}${url.search}`.includes('@'));
  if (url && !isTorn && /^postgres(ql)?:$/.test(url.protocol)) return url;
  const advice = 'percent-encode special characters in its password';
  throw new UsageError(`${origin} must be a URL like postgres://user@host:5432/database; ${advice}`);
}
