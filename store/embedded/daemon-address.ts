import { readFile } from 'node:fs/promises';
import { replaceFile } from '../durable-file.ts';
import type { DaemonAddress } from '../ports.ts';
import type { Home } from './files/home.ts';

/** The address of a home's daemon: `daemon.json`. */
export function daemonAddressIn({ daemonFile }: Home): DaemonAddress {
  return {
    read: async () => {
      try {
        const { ingressUrl } = JSON.parse(await readFile(daemonFile, 'utf8'));
        return typeof ingressUrl === 'string' ? ingressUrl : undefined;
      } catch {
        // The default serves as well: the record only saves naming the URL.
        return undefined;
      }
    },
    record: ingressUrl => replaceFile(daemonFile, `${JSON.stringify({ ingressUrl })}\n`),
  };
}
