import { useState } from 'preact/hooks';
import { describeImpact } from '../../../schema/changes/describe-impact.ts';
import { showChange } from '../../../schema/changes/show-change.ts';
import { callApi } from '../../api-client.ts';
import type { ListedWebhook, PlannedChange } from '../../api-types.ts';
import { DiffBlock } from '../../parts/definition-file.tsx';
import { Field, NameField, Switch } from '../../parts/fields.tsx';
import { FilterTest } from '../../parts/filter-test.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Code, Text } from '../../parts/text.tsx';
import {
  type AutomationBody,
  type AutomationDraft,
  buildAutomationBody,
  createTriggerDraft,
} from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo } from '../../state/current-location.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import type { RunDraft } from '../../state/run-draft.ts';
import { useSubmit } from '../../state/use-action.ts';
import { RunSection } from './run-section.tsx';
import { TriggerEditor } from './trigger-editor.tsx';

interface Properties {
  readonly name: string;
  readonly automation: AutomationBody;
}

interface FormProperties {
  readonly initial: AutomationDraft;
  readonly isNew: boolean;
  readonly onSave: (name: string, automation: AutomationBody) => Promise<void>;
}

export function AutomationForm({ initial, isNew, onSave }: FormProperties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [draft, setDraft] = useState(initial);
  const change = (changed: Partial<AutomationDraft>) => setDraft(known => ({ ...known, ...changed }));
  const webhooks = useLoad(
    signal => callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
  );
  const automation = buildAutomationBody(draft);
  const [reviewed, setReviewed] = useState<AutomationDraft>();
  const [sent, setSent] = useState<RunDraft>();
  const { busy, error, submit } = useSubmit(async () => {
    if (!automation) return;
    setSent(draft.runs);
    await onSave(draft.name, automation);
    goTo({ page: 'automation', factory, id: draft.name });
  });
  if (!mayManage) return <p class="notice">You need the manage permission to change automations.</p>;
  if (!webhooks.value) return <Waiting error={webhooks.error} reload={webhooks.reload} what="webhooks" />;
  if (isNew && webhooks.value.webhooks.length === 0) return <NoWebhook />;
  return (
    <form class="stack form wide" onSubmit={submit}>
      {!managedHere && (
        <p class="notice">
          The automations of this factory are defined in files. Fill in the form, then copy the definition
          file that it shows.
        </p>
      )}
      <section class="card padded stack">
        {isNew && <NameField value={draft.name} onInput={name => change({ name })} example="triage-errors" />}
        <Switch label="Enabled" on={draft.enabled} onToggle={enabled => change({ enabled })} />
        <PromptField value={draft.prompt} onInput={prompt => change({ prompt })} />
      </section>
      <TriggerList draft={draft} webhooks={webhooks.value.webhooks} onChange={change} />
      <RunSection
        runs={draft.runs}
        onChange={runs => change({ runs })}
        refusal={sent === draft.runs ? error : undefined}
      />
      {automation && reviewed === draft && <DraftChanges name={draft.name} automation={automation} />}
      <ProblemNotice error={error} />
      <div class="actions">
        <button type="submit" class="btn primary" disabled={busy || automation === undefined}>
          {managedHere ? (isNew ? 'Create automation' : 'Save') : 'Show the definition file'}
        </button>
        <button
          type="button"
          disabled={automation === undefined || draft.name === ''}
          onClick={() => setReviewed(draft)}
        >
          Review changes
        </button>
      </div>
    </form>
  );
}

/** A new automation has nothing to listen to yet. */
function NoWebhook() {
  const { factory, managedHere } = useFactory();
  return (
    <Empty title="Create a webhook first">
      <p>An automation starts when a webhook gets a delivery, and this factory has no webhook yet.</p>
      <a class="btn primary" href={toHref({ page: 'new-webhook', factory })}>
        {managedHere ? 'Create webhook' : 'Draft webhook'}
      </a>
    </Empty>
  );
}

interface PromptProperties {
  readonly value: string;
  readonly onInput: (prompt: string) => void;
}

function PromptField({ value, onInput }: PromptProperties) {
  return (
    <Field
      label="Prompt"
      hint="Instructions for each run. The payload is attached as event-payload.json, the event headers as event-headers.json."
    >
      {ids => (
        <textarea
          {...ids}
          required
          rows={6}
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface ListProperties {
  readonly draft: AutomationDraft;
  readonly webhooks: readonly ListedWebhook[];
  readonly onChange: (changed: Pick<AutomationDraft, 'triggers'>) => void;
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
          renderTest={tested => <FilterTest subject={{ triggers: [tested] }} webhook={trigger.uid} />}
        />
      ))}
      <div>
        <button
          type="button"
          class="btn"
          onClick={() => onChange({ triggers: [...triggers, createTriggerDraft()] })}
        >
          Add a trigger
        </button>
      </div>
    </>
  );
}

/** The changes that saving a draft would make. */
function DraftChanges({ name, automation }: Properties) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal =>
      callApi('post', '/factories/{factory}/automation-plan', {
        factory,
        body: { name, ...automation },
        signal,
      }),
    [factory, name],
  );
  return (
    <section class="card padded stack" aria-label="Changes">
      <h2>Changes</h2>
      {value ? (
        <ChangeList change={value.change} />
      ) : (
        <Waiting error={error} reload={reload} what="the changes" />
      )}
    </section>
  );
}

/** Shows a change: each part of the definition before and after, and the impact on senders and runs. */
function ChangeList({ change: { action, fields, impact } }: { readonly change: PlannedChange }) {
  if (action === 'no-op') return <p class="t3">Nothing changes.</p>;
  return (
    <>
      <ul class="changes">
        {fields.map(field => {
          const { path, lines } = showChange(field);
          return (
            <li key={path}>
              <Code text={path} />
              <DiffBlock lines={lines} />
            </li>
          );
        })}
      </ul>
      {impact && (
        <ul class="effects">
          {describeImpact(impact, Date.now()).map(sentence => (
            <li key={sentence}>
              <Text text={sentence} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
