import type { Store, StoreOptions } from '../ports.ts';
import { fileFailure } from '../store-error.ts';
import { apiTokensIn } from './api-tokens.ts';
import { appliedStatesIn } from './applied-states.ts';
import { daemonAddressIn } from './daemon-address.ts';
import { openThreadReader } from './delivery-log/read/queries.ts';
import { openProcessReader } from './delivery-log/read/read-in-process.ts';
import { openDeliveryLog } from './delivery-log/write/open-delivery-log.ts';
import { homeAt, makePrivateDirectory, mirrorDirectory } from './files/home.ts';
import { acquireLock, withLock } from './files/lock.ts';
import { openHomeSeal } from './home-seal.ts';
import { reconcileStatusesIn } from './reconcile-statuses.ts';
import { runFilesIn } from './run-files.ts';
import { teamSecretsIn } from './team-secrets.ts';

/** A store of files and one SQLite database in a home directory, for the processes of one machine. */
export function openEmbeddedStore({ environment, lockTimeoutMs, now, ...options }: StoreOptions): Store {
  const home = homeAt(options.home);
  const seal = openHomeSeal(home, environment);
  const appliedStates = appliedStatesIn(home, lockTimeoutMs);
  const openReader = options.readsInThread ? openThreadReader : openProcessReader;
  const deliveries = openReader(home.deliveryLogFile);
  return {
    appliedStates,
    teamSecrets: teamSecretsIn({ home, seal, appliedStates, lockTimeoutMs, now }),
    apiTokens: apiTokensIn(home, lockTimeoutMs, now),
    reconcileStatuses: reconcileStatusesIn(home, lockTimeoutMs),
    runFiles: runFilesIn(home),
    mirrors: {
      use: (factory, work) => {
        const directory = mirrorDirectory(home, factory);
        return withLock(directory, lockTimeoutMs, async () => {
          await makePrivateDirectory(directory).catch(fileFailure('unwritable', directory));
          return work(directory);
        });
      },
    },
    daemonAddress: daemonAddressIn(home),
    seal,
    deliveries,
    openDeliveryLog: async options => {
      await makePrivateDirectory(home.directory);
      return openDeliveryLog(home.deliveryLogFile, options);
    },
    claimDaemon: () => acquireLock(home.deliveryLogFile, 0),
    close: () => deliveries.close(),
  };
}
