import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseJsonText } from '../../json/parse-json-text.ts';
import type { DaemonAddress } from '../ports/store.ts';
import { fileFailure } from '../ports/store-error.ts';
import { replaceFile } from './durable-file.ts';
import type { Home } from './home.ts';
import { makeHome } from './make-home.ts';

const recordShape = z.object({
  ingressUrl: z.string(),
  managementUrl: z.string(),
  listensAt: z.string().optional(),
  id: z.string(),
  trustsProxies: z.boolean(),
  connections: z.number().optional(),
  senderUrls: z.array(z.string()).optional(),
  deliveriesPerMinute: z.number().optional(),
  webhooks: z.record(z.string(), z.object({ deliveriesPerMinute: z.number() })).optional(),
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
