import type { Webhook } from '../../api-types.ts';
import { Field } from '../../parts/field.tsx';
import { FilterTest } from '../../parts/filter-test/filter-test.tsx';
import { readTrigger, type TriggerDraft } from '../../state/automation-draft.ts';

interface Properties {
  readonly title: string;
  readonly trigger: TriggerDraft;
  readonly webhooks: readonly Webhook[];
  readonly onChange: (trigger: TriggerDraft) => void;
  readonly onRemove: (() => void) | undefined;
}

/** Picks a webhook and writes a payload filter, tried on stored deliveries while it is written. */
export function TriggerEditor({ title, trigger, webhooks, onChange, onRemove }: Properties) {
  const read = readTrigger(trigger);
  const known = webhooks.some(({ uid }) => uid === trigger.uid);
  return (
    <section class="card padded stack" aria-label={title}>
      <div class="section-heading">
        <h2>{title}</h2>
        {onRemove && (
          <button type="button" class="push danger-quiet" onClick={onRemove}>
            Remove<span class="unseen"> {title}</span>
          </button>
        )}
      </div>
      <Field label="Webhook">
        {ids => (
          <select
            {...ids}
            required
            value={trigger.uid}
            onChange={event => onChange({ ...trigger, uid: event.currentTarget.value })}
          >
            <option value="">Pick a webhook</option>
            {!known && trigger.uid !== '' && <option value={trigger.uid}>{trigger.uid} (deleted)</option>}
            {webhooks.map(({ uid, name }) => (
              <option key={uid} value={uid}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Payload filter"
        hint={
          <>
            JSON that mirrors the payload; every key has to match. <code>{'{"action": ["opened"]}'}</code>, or{' '}
            <code>in</code>, <code>not_in</code>, <code>exists</code>. Empty: every delivery starts a run.
          </>
        }
      >
        {ids => (
          <textarea
            {...ids}
            class="code"
            rows={8}
            spellcheck={false}
            autocomplete="off"
            value={trigger.filter}
            onInput={event => onChange({ ...trigger, filter: event.currentTarget.value })}
          />
        )}
      </Field>
      <div role="status">{'mistake' in read && <p class="mistake">{read.mistake}</p>}</div>
      {trigger.uid !== '' && 'trigger' in read && (
        <FilterTest subject={{ triggers: [read.trigger] }} webhook={trigger.uid} />
      )}
    </section>
  );
}
