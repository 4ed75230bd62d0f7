import { readFile } from 'node:fs/promises';
import { replaceFile } from '../durable-file.ts';
import type { DaemonAddress } from '../ports.ts';
import { fileFailure } from '../store-error.ts';
import { type Home, makePrivateDirectory } from './files/home.ts';

/** The address of a home's daemon: `daemon.json`. */
export function openDaemonAddress({ directory, daemonFile }: Home): DaemonAddress {
  return {
    read: async () => {
      try {
        const { ingressUrl } = JSON.parse(await readFile(daemonFile, 'utf8'));
        return typeof ingressUrl === 'string' ? ingressUrl : undefined;
      } catch {
        // The caller then uses the default address: the record only saves an option.
        return undefined;
      }
    },
    record: ingressUrl =>
      makePrivateDirectory(directory)
        .then(() => replaceFile(daemonFile, `${JSON.stringify({ ingressUrl })}\n`))
        .catch(fileFailure('unwritable', daemonFile)),
  };
}
