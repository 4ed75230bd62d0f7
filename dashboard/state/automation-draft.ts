import type { z } from 'zod';
import type { automationRequest } from '../../schema/api/requests.ts';
import type { AutomationDetail } from '../api-types.ts';
import { filterText } from '../text/format-filter.ts';

type Request = z.input<typeof automationRequest>;
export type TriggerRequest = Request['triggers'][number];

/** A trigger as it is being written: its filter is text until it is JSON. */
export interface TriggerDraft {
  readonly key: number;
  readonly uid: string;
  readonly filter: string;
}

export interface AutomationDraft {
  readonly name: string;
  readonly enabled: boolean;
  readonly prompt: string;
  readonly triggers: readonly TriggerDraft[];
}

let keys = 0;

export function newTrigger(uid = '', payload?: object): TriggerDraft {
  keys += 1;
  return { key: keys, uid, filter: payload === undefined ? '' : filterText(payload) };
}

export function emptyDraft(): AutomationDraft {
  return { name: '', enabled: true, prompt: '', triggers: [newTrigger()] };
}

export function draftOf({ name, enabled, prompt, triggers }: AutomationDetail): AutomationDraft {
  return { name, enabled, prompt, triggers: triggers.map(({ uid, payload }) => newTrigger(uid, payload)) };
}

/** The trigger to send, or what is wrong with the text of its filter. */
export function readTrigger({
  uid,
  filter,
}: TriggerDraft): { trigger: TriggerRequest } | { mistake: string } {
  const webhookIds = { webhook_ids: [uid] };
  const whole = (payload?: NonNullable<TriggerRequest['filter']['payload']>) => ({
    trigger: {
      provider: 'webhook' as const,
      event: 'received' as const,
      filter: { ...webhookIds, ...(payload !== undefined && { payload }) },
    },
  });
  if (filter.trim() === '') return whole();
  try {
    return whole(JSON.parse(filter));
  } catch (error) {
    return { mistake: `Not JSON yet: ${error instanceof Error ? error.message : error}` };
  }
}

/** The request, or undefined while a filter is no JSON. */
export function requestOf({ enabled, prompt, triggers }: AutomationDraft): Request | undefined {
  const read = triggers.map(readTrigger).flatMap(result => ('trigger' in result ? [result.trigger] : []));
  return read.length === triggers.length ? { enabled, prompt, triggers: read } : undefined;
}
