import type { z } from 'zod';
import type { automationRequest } from '../../schema/api/requests.ts';
import { formatFilter } from '../text/format-filter.ts';

/** The body of a request that writes an automation. */
export type AutomationBody = z.input<typeof automationRequest>;
export type TriggerBody = AutomationBody['triggers'][number];

/** A trigger in the form. Its filter is text, and may not be valid JSON yet. */
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

export function createTriggerDraft(uid = '', payload?: object): TriggerDraft {
  keys += 1;
  return { key: keys, uid, filter: payload === undefined ? '' : formatFilter(payload) };
}

export function createAutomationDraft(): AutomationDraft {
  return { name: '', enabled: true, prompt: '', triggers: [createTriggerDraft()] };
}

interface StoredAutomation extends Omit<AutomationDraft, 'triggers'> {
  readonly triggers: readonly { readonly uid: string; readonly payload?: object | undefined }[];
}

export function toAutomationDraft({ name, enabled, prompt, triggers }: StoredAutomation): AutomationDraft {
  return {
    name,
    enabled,
    prompt,
    triggers: triggers.map(({ uid, payload }) => createTriggerDraft(uid, payload)),
  };
}

/** Parses a draft. Returns the trigger to send, or a message about the text of its filter. */
export function parseTriggerDraft({
  uid,
  filter,
}: TriggerDraft): { trigger: TriggerBody } | { mistake: string } {
  try {
    const payload = filter.trim() === '' ? undefined : JSON.parse(filter);
    return {
      trigger: {
        provider: 'webhook',
        event: 'received',
        filter: { webhook_ids: [uid], ...(payload !== undefined && { payload }) },
      },
    };
  } catch (error) {
    return { mistake: `Invalid JSON: ${error instanceof Error ? error.message : error}` };
  }
}

/** Builds the request body; undefined while a filter is not valid JSON. */
export function buildAutomationBody({
  enabled,
  prompt,
  triggers,
}: AutomationDraft): AutomationBody | undefined {
  const parsed = triggers
    .map(parseTriggerDraft)
    .flatMap(result => ('trigger' in result ? [result.trigger] : []));
  return parsed.length === triggers.length ? { enabled, prompt, triggers: parsed } : undefined;
}
