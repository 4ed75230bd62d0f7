import type { z } from 'zod';
import type { automationShape, RunControl } from '../../schema/definitions/automation-definition.ts';
import { parseYaml } from '../../schema/definitions/yaml-source.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { formatFilter } from '../text/format-values.ts';
import { parseRunDraft, type RunDraft, toRunDraft } from './run-draft.ts';

/** The body of a request that writes an automation. */
export type AutomationBody = z.input<typeof automationShape>;
export type TriggerBody = AutomationBody['triggers'][number];

/** A trigger in the form. Its filters are text, and may not be valid YAML yet. */
export interface TriggerDraft {
  readonly key: number;
  /** The UID of the webhook; `''` while none is selected. */
  readonly uid: string;
  /** The name of the webhook, unless that is deleted. The definition then selects it by its name. */
  readonly webhook: string | null;
  readonly filter: string;
  readonly headers: string;
}

export interface AutomationDraft {
  readonly name: string;
  readonly enabled: boolean;
  readonly prompt: string;
  readonly triggers: readonly TriggerDraft[];
  readonly runs: RunDraft;
}

let keys = 0;
const none = { uid: '', webhook: null };

interface StoredTrigger {
  readonly uid: string;
  readonly webhook: string | null;
  readonly payload?: object | undefined;
  readonly headers?: object | undefined;
}

export function createTriggerDraft({ uid, webhook, payload, headers }: StoredTrigger = none): TriggerDraft {
  keys += 1;
  const format = (filter: object | undefined) => (filter === undefined ? '' : formatFilter(filter));
  return { key: keys, uid, webhook, filter: format(payload), headers: format(headers) };
}

export function createAutomationDraft(): AutomationDraft {
  return { name: '', enabled: true, prompt: '', triggers: [createTriggerDraft()], runs: toRunDraft({}) };
}

interface StoredAutomation extends Omit<AutomationDraft, 'triggers' | 'runs'>, RunControl {
  readonly triggers: readonly StoredTrigger[];
}

export function toAutomationDraft(stored: StoredAutomation): AutomationDraft {
  const { name, enabled, prompt, triggers } = stored;
  const drafts = triggers.map(trigger => createTriggerDraft(trigger));
  return { name, enabled, prompt, triggers: drafts, runs: toRunDraft(stored) };
}

/** Parses a draft. Returns the trigger to send, or what is wrong with the text of its filters. */
export function parseTriggerDraft({
  uid,
  webhook,
  filter,
  headers: headerFilter,
}: TriggerDraft): { trigger: TriggerBody } | { diagnostics: readonly Diagnostic[] } {
  const payload = parseFilter('Payload filter', filter);
  const headers = parseFilter('Header filter', headerFilter);
  if (!payload.ok || !headers.ok) {
    return { diagnostics: [payload, headers].flatMap(parsed => (parsed.ok ? [] : parsed.diagnostics)) };
  }
  return {
    trigger: {
      provider: 'webhook',
      event: 'received',
      filter: {
        ...(webhook === null ? { webhook_ids: [uid] } : { webhook }),
        ...(payload.filter !== undefined && { payload: payload.filter }),
        ...(headers.filter !== undefined && { headers: headers.filter }),
      },
    },
  };
}

type ParsedFilter =
  // The API checks the filter.
  | { readonly ok: true; readonly filter: never }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Parses a filter as definition files have it; undefined if there is none. JSON is YAML too. */
function parseFilter(what: string, text: string): ParsedFilter {
  const parsed = parseYaml(what, new TextEncoder().encode(text));
  return parsed.ok ? { ok: true, filter: (parsed.source.value ?? undefined) as never } : parsed;
}

/** Builds the request body; undefined while a filter or a field of the runs cannot be parsed. */
export function buildAutomationBody(draft: AutomationDraft): AutomationBody | undefined {
  const { enabled, prompt, triggers } = draft;
  const keys = parseRunDraft(draft.runs);
  const parsed = triggers
    .map(parseTriggerDraft)
    .flatMap(result => ('trigger' in result ? [result.trigger] : []));
  return keys && parsed.length === triggers.length
    ? { enabled, prompt, ...keys, triggers: parsed }
    : undefined;
}
