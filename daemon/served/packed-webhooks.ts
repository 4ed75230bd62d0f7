import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { PreviousKey } from '../authentication/ingress-request.ts';

/** The parts of a webhook without which its requests cannot be answered. */
export interface PackedWebhook extends Omit<AppliedWebhook, 'credential' | 'secretName' | 'enabled'> {
  /** The key of its authenticator, see `createAuthenticator`. */
  readonly key?: string | undefined;
  /** The same of the previous credential, which may have ended. */
  readonly previous?: PreviousKey | undefined;
  /** A JSON array of the `ServedFilter`s of enabled automations, unless it is so long that it is compiled ahead. */
  readonly filters?: string | undefined;
}

/**
 * Webhooks as JSON, each on a line. They take 220 bytes each and are no objects, because a daemon may have 100,000,
 * most of which get no request for a long time.
 */
export interface PackedWebhooks {
  /** The UIDs in the order of the lines. */
  readonly uids: readonly string[];
  readonly lines: Uint8Array;
}

export function packWebhooks(webhooks: readonly PackedWebhook[]): PackedWebhooks {
  const lines = webhooks.map(({ uid: _, ...others }) => JSON.stringify(others)).join('\n');
  return { uids: webhooks.map(({ uid }) => uid), lines: new TextEncoder().encode(lines) };
}

export function unpackWebhook({ uids, lines }: PackedWebhooks, uid: string): PackedWebhook | undefined {
  const line = new TextDecoder().decode(lines).split('\n')[uids.indexOf(uid)];
  return line === undefined ? undefined : { uid, ...(parseJsonText(line) as Omit<PackedWebhook, 'uid'>) };
}
