import type { z } from 'zod';
import type { automationShape } from '../../schema/definitions/automation-definition.ts';
import { parseAutomation } from '../../schema/definitions/parse-automation.ts';
import { parseYaml } from '../../schema/definitions/yaml-source.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { isObject } from '../../schema/filters/clause.ts';
import { examineClauses } from '../../schema/filters/payload-filter-explain.ts';
import { type RunDraft, toRunDraft } from './run-draft.ts';

/** The body of a request that writes an automation. */
export type AutomationBody = z.input<typeof automationShape>;
type Payload = AutomationBody['triggers'][number]['filter']['payload'];

/** What the text of an automation says. */
export interface AutomationDraft {
  /** What `hookmill validate` says of it. */
  readonly diagnostics: readonly Diagnostic[];
  /** The automation as the API takes it; undefined if the text has errors. */
  readonly body: AutomationBody | undefined;
  /** The keys that control its runs; undefined if the text is no YAML. */
  readonly runs: RunDraft | undefined;
  readonly triggers: readonly DraftTrigger[];
}

interface DraftTrigger {
  /** The name or the UID of its webhook; undefined if there is none. */
  readonly webhook: string | undefined;
  readonly payload: unknown;
}

/** Reads the text of an automation as `hookmill validate` reads a file. */
export function readAutomationDraft(name: string, text: string): AutomationDraft {
  const file = `automations/${name}.yaml`;
  const bytes = new TextEncoder().encode(text);
  const { definition, diagnostics } = parseAutomation(name, file, bytes);
  const yaml = parseYaml(file, bytes);
  const value = yaml.ok ? yaml.source.value : undefined;
  const runs = isObject(value) ? toRunDraft(value) : undefined;
  const triggers = isObject(value) && Array.isArray(value.triggers) ? value.triggers.map(readTrigger) : [];
  if (!definition) return { diagnostics, body: undefined, runs, triggers };
  const { name: _, ...body } = definition;
  return { diagnostics, body: body as AutomationBody, runs, triggers };
}

function readTrigger(trigger: unknown): DraftTrigger {
  const filter = isObject(trigger) && isObject(trigger.filter) ? trigger.filter : {};
  const { webhook, webhook_ids, payload } = filter;
  const [uid] = Array.isArray(webhook_ids) ? webhook_ids : [];
  const selected: unknown = webhook ?? uid;
  return { webhook: typeof selected === 'string' ? selected : undefined, payload };
}

/** Finds the webhooks that an automation selects, and what it selects that does not exist. */
export function selectWebhooks<W extends { readonly name: string; readonly uid: string }>(
  triggers: readonly Pick<DraftTrigger, 'webhook'>[],
  webhooks: readonly W[],
): { readonly selected: readonly W[]; readonly unknown: readonly string[] } {
  const wanted = [...new Set(triggers.flatMap(({ webhook }) => webhook ?? []))];
  const isMeant = ({ name, uid }: W) => wanted.includes(name) || wanted.includes(uid);
  const unknown = wanted.filter(each => !webhooks.some(({ name, uid }) => name === each || uid === each));
  return { selected: webhooks.filter(isMeant), unknown };
}

/** The paths of the fields on which an automation filters, as in `["issue","level"]`. */
export function listFilteredFields(body: AutomationBody | undefined): ReadonlySet<string> {
  const payloads = body?.triggers.map(({ filter }) => filter.payload as Payload) ?? [];
  const clauses = payloads.flatMap(payload => examineClauses(payload as never, undefined));
  const fields = clauses.filter(({ clause }) => clause.operator !== 'object');
  return new Set(fields.map(({ keys }) => JSON.stringify(keys)));
}

/** The text with which a new automation begins. */
export function createAutomationText(webhook: string): string {
  return `prompt: |
  Read event-payload.json, and say in two sentences what happened.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: ${webhook}
`;
}
