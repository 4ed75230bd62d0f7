import type { ComponentChildren } from 'preact';
import type { ListedWebhook } from '../../api-types.ts';
import { CodeField, Field } from '../../parts/fields.tsx';
import { Diagnostics } from '../../parts/problem-notice.tsx';
import { Code } from '../../parts/text.tsx';
import { parseTriggerDraft, type TriggerBody, type TriggerDraft } from '../../state/automation-draft.ts';

interface FieldProperties {
  readonly trigger: TriggerDraft;
  readonly onChange: (trigger: TriggerDraft) => void;
}

interface Properties extends FieldProperties {
  readonly title: string;
  readonly webhooks: readonly ListedWebhook[];
  readonly onRemove: (() => void) | undefined;
  /** Renders a test of the trigger, as soon as it is complete. */
  readonly renderTest: (trigger: TriggerBody) => ComponentChildren;
}

/** Edits the webhook and the filters of a trigger. */
export function TriggerEditor({ title, trigger, webhooks, onChange, onRemove, renderTest }: Properties) {
  const parsed = parseTriggerDraft(trigger);
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
      <WebhookField trigger={trigger} webhooks={webhooks} onChange={onChange} />
      <FilterField trigger={trigger} onChange={onChange} />
      <HeadersField trigger={trigger} webhooks={webhooks} onChange={onChange} />
      <div role="status">{'diagnostics' in parsed && <Diagnostics diagnostics={parsed.diagnostics} />}</div>
      {trigger.uid !== '' && 'trigger' in parsed && renderTest(parsed.trigger)}
    </section>
  );
}

function WebhookField({ trigger, webhooks, onChange }: FieldProperties & Pick<Properties, 'webhooks'>) {
  const known = webhooks.some(({ uid }) => uid === trigger.uid);
  const select = (selected: string) => {
    const webhook = webhooks.find(({ uid }) => uid === selected)?.name ?? null;
    return { uid: selected, webhook };
  };
  return (
    <Field label="Webhook">
      {ids => (
        <select
          {...ids}
          required
          value={trigger.uid}
          onChange={event => onChange({ ...trigger, ...select(event.currentTarget.value) })}
        >
          <option value="">Select a webhook</option>
          {!known && trigger.uid !== '' && <option value={trigger.uid}>{trigger.uid} (deleted)</option>}
          {webhooks.map(({ uid, name }) => (
            <option key={uid} value={uid}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function FilterField({ trigger, onChange }: FieldProperties) {
  return (
    <CodeField
      label="Payload filter"
      hint={
        <>
          YAML as in a definition file, with the structure of the payload; every key must match. List the
          allowed values, as in <code>action: [opened]</code>, or use <code>in</code>, <code>not_in</code>,{' '}
          <code>exists</code>, <code>{'like: ["release/*"]'}</code>, <code>not_like</code> or{' '}
          <code>{'compare: { at_least: 5 }'}</code>. JSON works too. Leave it empty to match every delivery.
        </>
      }
      rows={8}
      value={trigger.filter}
      onInput={filter => onChange({ ...trigger, filter })}
    />
  );
}

function HeadersField({ trigger, webhooks, onChange }: FieldProperties & Pick<Properties, 'webhooks'>) {
  const { eventHeaders = [] } = webhooks.find(({ uid }) => uid === trigger.uid) ?? {};
  return (
    <CodeField
      label="Header filter"
      hint={
        <>
          YAML with names of headers, as in <code>X-GitHub-Event: [push]</code>. Leave it empty to match every
          delivery.
          {eventHeaders.length > 0 && (
            <>
              {' '}
              The webhook keeps <Code text={eventHeaders.join(', ')} />.
            </>
          )}
        </>
      }
      rows={3}
      value={trigger.headers}
      onInput={headers => onChange({ ...trigger, headers })}
    />
  );
}
