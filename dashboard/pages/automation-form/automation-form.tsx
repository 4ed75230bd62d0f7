import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Webhook } from '../../api-types.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { Field } from '../../parts/field.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice, Waiting } from '../../parts/problem-notice.tsx';
import { Switch } from '../../parts/switch.tsx';
import { announce } from '../../state/announcements.ts';
import {
  type AutomationDraft,
  draftOf,
  emptyDraft,
  newTrigger,
  requestOf,
} from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { go } from '../../state/current-location.ts';
import { useAction } from '../../state/use-action.ts';
import { useLoad } from '../../state/use-load.ts';
import { TriggerEditor } from './trigger-editor.tsx';

type Request = NonNullable<ReturnType<typeof requestOf>>;

export function NewAutomationPage() {
  const { factory, reload } = useFactory();
  const create = async (name: string, request: Request) => {
    await callApi('post', '/factories/{factory}/automations', { factory, body: { name, ...request } });
    announce(`Created ${name}`);
    reload();
  };
  return (
    <>
      <Breadcrumb to={{ page: 'automations', factory }} label="Automations" />
      <PageHeading title="New automation" />
      <AutomationForm initial={emptyDraft()} isNew onSave={create} />
    </>
  );
}

export function EditAutomationPage({ name }: { readonly name: string }) {
  const { factory } = useFactory();
  const path = '/factories/{factory}/automations/{automation}';
  const { value, error, reload } = useLoad(
    signal => callApi('get', path, { factory, automation: name, signal }),
    [factory, name],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the automation" />;
  const save = async (_: string, body: Request) => {
    await callApi('put', path, { factory, automation: name, ifSerial: value.serial, body });
    announce(`Saved ${name}`);
  };
  return (
    <>
      <Breadcrumb to={{ page: 'automation', factory, id: name }} label={name} />
      <PageHeading title={`Edit ${name}`} />
      <AutomationForm initial={draftOf(value)} isNew={false} onSave={save} />
    </>
  );
}

interface FormProperties {
  readonly initial: AutomationDraft;
  readonly isNew: boolean;
  readonly onSave: (name: string, request: Request) => Promise<void>;
}

function AutomationForm({ initial, isNew, onSave }: FormProperties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [draft, setDraft] = useState(initial);
  const change = (changed: Partial<AutomationDraft>) => setDraft(known => ({ ...known, ...changed }));
  const webhooks = useLoad(
    signal => callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
  );
  const request = requestOf(draft);
  const { busy, error, run } = useAction(async () => {
    if (!request) return;
    await onSave(draft.name, request);
    go({ page: 'automation', factory, id: draft.name });
  });
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  if (!mayManage) return <p class="notice">Your token may only read: it cannot change automations.</p>;
  if (!webhooks.value) return <Waiting error={webhooks.error} reload={webhooks.reload} what="webhooks" />;
  return (
    <form class="stack form wide" onSubmit={submit}>
      {!managedHere && (
        <p class="notice">
          The automations of this factory are definition files. Say what you need, and take the file along.
        </p>
      )}
      <section class="card padded stack">
        {isNew && <NameField value={draft.name} onInput={name => change({ name })} example="triage-errors" />}
        <Switch label="Enabled" on={draft.enabled} onToggle={enabled => change({ enabled })} />
        <Field
          label="Prompt"
          hint="What a run is told to do. The payload is attached to it as event-payload.json."
        >
          {ids => (
            <textarea
              {...ids}
              required
              rows={6}
              value={draft.prompt}
              onInput={event => change({ prompt: event.currentTarget.value })}
            />
          )}
        </Field>
      </section>
      <TriggerList draft={draft} webhooks={webhooks.value.webhooks} onChange={change} />
      <ProblemNotice error={error} />
      <div class="actions">
        <button type="submit" class="primary" disabled={busy || request === undefined}>
          {managedHere ? (isNew ? 'Create automation' : 'Save') : 'Show the definition file'}
        </button>
      </div>
    </form>
  );
}

interface ListProperties {
  readonly draft: AutomationDraft;
  readonly webhooks: readonly Webhook[];
  readonly onChange: (changed: Partial<AutomationDraft>) => void;
}

function TriggerList({ draft: { triggers }, webhooks, onChange }: ListProperties) {
  return (
    <>
      {triggers.map((trigger, index) => (
        <TriggerEditor
          key={trigger.key}
          title={triggers.length === 1 ? 'Trigger' : `Trigger ${index + 1}`}
          trigger={trigger}
          webhooks={webhooks}
          onChange={changed =>
            onChange({ triggers: triggers.map(other => (other === trigger ? changed : other)) })
          }
          onRemove={
            triggers.length === 1
              ? undefined
              : () => onChange({ triggers: triggers.filter(other => other !== trigger) })
          }
        />
      ))}
      <div>
        <button type="button" onClick={() => onChange({ triggers: [...triggers, newTrigger()] })}>
          Add a trigger
        </button>
      </div>
    </>
  );
}
