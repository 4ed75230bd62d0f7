import { type FactoryView, factoryView } from '../../operations/views/applied-views.ts';
import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { createSnapshot, type StoredSnapshot } from '../../schema/automations-snapshot.ts';
import type { NamedFilter } from '../../schema/filters/filter-index.ts';

/** @limit Characters from which the filters of a loaded state are divided into parts: parsing a part takes less than a millisecond. */
const filterPartChars = 32 * 1024;

/** An applied state as the ingress needs it: plain data that was checked, rendered where it does not delay deliveries. */
export interface LoadedState {
  readonly view: FactoryView;
  readonly webhooks: readonly AppliedWebhook[];
  readonly snapshot: StoredSnapshot;
  /** The filters of the enabled automations: each part is a JSON array of `WebhookFilter`s. */
  readonly filterParts: readonly string[];
}

/** A filter that a webhook's deliveries must match for a run of the automation. */
export interface WebhookFilter extends NamedFilter {
  readonly uid: string;
}

/** Loads a stored state. Fails if there is none, if it is damaged or of another factory, or as `read` does. */
export async function loadState(
  read: (factory: string) => Promise<AppliedState>,
  factory: string,
): Promise<LoadedState> {
  const state = await read(factory);
  if (state.serial === 0) throw new Error('the applied state is missing');
  if (state.factory !== factory) throw new Error(`the applied state belongs to the factory ${state.factory}`);
  if (state.isDamaged) throw new Error(damagedText);
  return {
    view: factoryView(state),
    webhooks: state.webhooks,
    snapshot: createSnapshot(state),
    filterParts: renderFilters(state.automations),
  };
}

function renderFilters(automations: readonly AppliedAutomation[]): string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let chars = 0;
  const endPart = () => {
    if (part.length > 0) parts.push(`[${part.join(',')}]`);
    part = [];
    chars = 0;
  };
  for (const { name, enabled, triggers } of automations) {
    if (!enabled) continue;
    for (const { filter } of triggers) {
      const [uid = ''] = filter.webhook_ids;
      const { payload, headers } = filter;
      const text = JSON.stringify({ uid, name, filter: payload, headers } satisfies WebhookFilter);
      part.push(text);
      chars += text.length;
      if (chars >= filterPartChars) endPart();
    }
  }
  endPart();
  return parts;
}

const damagedText =
  'the applied state was changed outside hookmill. Restore a backup, or run `hookmill apply` again';
