import { setTimeout as wait } from 'node:timers/promises';
import { type MissedEvent, type MissedPart, mergeMissed } from '../../operations/senders/merge-missed.ts';
import type { Backend } from '../backend/backend.ts';
import { showProgress } from '../output.ts';

export interface MissedList {
  /** In the order in which they happened. */
  readonly events: readonly MissedEvent[];
  readonly read: MissedPart['read'];
}

export interface AskedList {
  readonly uid: string;
  readonly since: string;
  readonly all: boolean;
}

/** Lists what the provider of a webhook tried to deliver in vain, part by part, and waits for its rate limit. */
export async function listMissedEvents(
  backend: Pick<Backend, 'call'>,
  { uid, since, all }: AskedList,
): Promise<MissedList> {
  const parts: MissedPart[] = [];
  let cursor: string | undefined;
  for (;;) {
    const part = await backend.call('listMissed', { params: { uid }, body: { since, all, cursor } });
    parts.push(part);
    if (part.next === null) break;
    showProgress(`Read ${part.read.entries} entries of the provider's log …`);
    if (part.nextInMs !== null) await wait(part.nextInMs);
    cursor = part.next;
  }
  showProgress('');
  // What was asked for after the first part began is not in all of them.
  const [first, last] = [parts[0]?.read, parts.at(-1)?.read];
  if (!first || !last) throw new Error('a list has at least one part');
  return { events: mergeMissed(parts), read: { ...last, at: first.at } };
}
