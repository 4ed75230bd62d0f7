import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { replaceFile } from '../durable-file.ts';
import type { DaemonAddress } from '../ports.ts';
import { fileFailure } from '../store-error.ts';
import type { Home } from './files/home.ts';
import { makeHome } from './files/make-home.ts';

const recordShape = z.object({
  ingressUrl: z.string(),
  managementUrl: z.string(),
  id: z.string(),
  trustsProxies: z.boolean(),
  connections: z.number().optional(),
});

/** The address of a home's daemon: `daemon.json`. */
export function openDaemonAddress(home: Home): DaemonAddress {
  const { daemonFile } = home;
  return {
    read: async () => {
      try {
        return recordShape.safeParse(parseJsonText(await readFile(daemonFile, 'utf8'))).data;
      } catch {
        // The caller then uses the default address: the record only saves an option.
        return undefined;
      }
    },
    record: daemon =>
      makeHome(home)
        .then(() => replaceFile(daemonFile, `${JSON.stringify(daemon)}\n`))
        .catch(fileFailure('unwritable', daemonFile)),
  };
}
