import { useState } from 'preact/hooks';
import { describeRunControl } from '../../../schema/clients/describe-run-control.ts';
import { callApi } from '../../api-client.ts';
import type { ShownAutomation, ShownPause } from '../../api-types.ts';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { DefinitionFileSection } from '../../parts/definition-file.tsx';
import { FormDialog } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/fields.tsx';
import { FilterTest } from '../../parts/filter-test.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { RunList } from '../../parts/log/run-list.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { EnabledPill, Pill } from '../../parts/pills.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Code, ExactTime, Text, WithCode } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, redirectTo } from '../../state/current-location.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { useAction } from '../../state/use-action.ts';
import { escapeInvisible, formatFilter } from '../../text/format-values.ts';

type Triggers = ShownAutomation['triggers'];

export function AutomationPage({ name }: { readonly name: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal =>
      callApi('get', '/factories/{factory}/automations/{automation}', { factory, automation: name, signal }),
    [factory, name],
  );
  const pauses = useLoad(
    signal => callApi('get', '/factories/{factory}/pauses', { factory, signal }),
    [factory, name],
  );
  const pause = pauses.value?.pauses.find(({ automation }) => automation === name);
  if (!value) return <Waiting error={error} reload={reload} what="the automation" />;
  return (
    <>
      <Breadcrumb to={{ page: 'automations', factory }} label="Automations" />
      <PageHeading
        title={name}
        actions={
          <>
            <EnabledPill enabled={value.enabled} paused={pause !== undefined} />
            <AutomationActions automation={value} pause={pause} onPaused={pauses.reload} />
          </>
        }
      />
      {pause && <PauseNotice pause={pause} />}
      <section class="card padded">
        <h2>Prompt</h2>
        <pre class="prompt">{escapeInvisible(value.prompt)}</pre>
      </section>
      <RunSentences automation={value} />
      <AppliedTriggers triggers={value.triggers} />
      <section class="card padded">
        <h2>Test filter</h2>
        <FilterTest
          subject={{ automation: name }}
          webhook={value.triggers.length === 1 ? value.triggers[0]?.uid : undefined}
        />
      </section>
      <DefinitionFileSection definition={value} name={`automations/${name}.yaml`}>
        <p>To change the automation, edit its file.</p>
      </DefinitionFileSection>
      <RunList fixed={{ automation: name }} />
    </>
  );
}

/** Says how the runs of an automation are executed; nothing if it leaves all of that to the operator. */
function RunSentences({ automation }: { readonly automation: ShownAutomation }) {
  const sentences = describeRunControl(automation);
  if (sentences.length === 0) return null;
  return (
    <section class="card padded">
      <h2>How its runs are executed</h2>
      <ul class="sentences">
        {sentences.map(sentence => (
          <li key={sentence}>
            <WithCode text={sentence} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function PauseNotice({ pause: { by, at, until } }: { readonly pause: ShownPause }) {
  return (
    <p class="notice warn">
      Paused by <Text text={by} /> since <ExactTime at={at} />
      {until !== null && (
        <>
          , until <ExactTime at={until} due />
        </>
      )}
      . Deliveries are accepted and runs recorded, but none starts.
    </p>
  );
}

function AppliedTriggers({ triggers }: { readonly triggers: Triggers }) {
  return (
    <section class="card padded">
      <h2>{triggers.length === 1 ? 'Trigger' : 'Triggers'}</h2>
      <ul class="triggers">
        {triggers.map((trigger, index) => (
          <AppliedTrigger key={index} trigger={trigger} />
        ))}
      </ul>
    </section>
  );
}

function AppliedTrigger({ trigger }: { readonly trigger: Triggers[number] }) {
  const { factory } = useFactory();
  const { uid, webhook, byName, payload, headers } = trigger;
  const isFiltered = payload !== undefined || headers !== undefined;
  return (
    <li>
      {webhook === null ? (
        <p>
          {byName !== undefined && <Text text={byName} />} <Code text={uid} />{' '}
          <Pill tone="warn">deleted webhook: never fires</Pill>
        </p>
      ) : (
        <p>
          {isFiltered ? 'A delivery to ' : 'Every delivery to '}
          <a href={toHref({ page: 'webhook', factory, id: uid })}>
            <Text text={webhook} />
          </a>
          {isFiltered ? describeCondition(trigger) : ' starts a run.'}
        </p>
      )}
      {headers !== undefined && <CopyableBlock text={formatFilter(headers)} what="header filter" />}
      {payload !== undefined && <CopyableBlock text={formatFilter(payload)} what="payload filter" />}
    </li>
  );
}

function describeCondition({ payload, headers }: Triggers[number]): string {
  if (headers === undefined) return ' starts a run if its payload matches:';
  return ` starts a run if its headers${payload === undefined ? '' : ' and its payload'} match:`;
}

interface ActionsProperties {
  readonly automation: ShownAutomation;
  readonly pause: ShownPause | undefined;
  readonly onPaused: () => void;
}

/** The buttons that change an automation; nothing for a token that may only read. */
function AutomationActions({ automation, pause, onPaused }: ActionsProperties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [deleting, setDeleting] = useState(false);
  if (!mayManage) return null;
  const { name, serial } = automation;
  const remove = async () => {
    const path = '/factories/{factory}/automations/{automation}';
    await callApi('delete', path, { factory, automation: name, ifSerial: serial });
    announce(`Deleted ${name}`);
    redirectTo({ page: 'automations', factory });
  };
  return (
    <div class="actions push">
      <PauseAction name={name} pause={pause} onPaused={onPaused} />
      <button type="button" class="btn" onClick={() => goTo({ page: 'edit-automation', factory, id: name })}>
        {managedHere ? 'Edit' : 'Draft a change'}
      </button>
      {managedHere && (
        <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
          Delete
        </button>
      )}
      {deleting && (
        <FormDialog
          title={`Delete ${name}?`}
          action="Delete automation"
          danger
          onSubmit={remove}
          onClose={() => setDeleting(false)}
        >
          <p>Deliveries no longer start runs of this automation. Past runs stay in the log.</p>
        </FormDialog>
      )}
    </div>
  );
}

interface PauseProperties {
  readonly name: string;
  readonly pause: ShownPause | undefined;
  readonly onPaused: () => void;
}

const hourSeconds = 3_600;
/** The times that the dialog offers, in hours. */
const pauseHours = { '1 hour': 1, '2 hours': 2, '8 hours': 8, '1 day': 24, '7 days': 168 } as const;

/** Pauses the automation, after it has asked for how long, or resumes it. */
function PauseAction({ name, pause, onPaused }: PauseProperties) {
  const { factory } = useFactory();
  const [asking, setAsking] = useState(false);
  const [hours, setHours] = useState('');
  const resuming = useAction(async () => {
    const path = '/factories/{factory}/automations/{automation}/resume';
    await callApi('post', path, { factory, automation: name, body: {} });
    announce(`Resumed ${name}`);
    onPaused();
  });
  const submit = async () => {
    const path = '/factories/{factory}/automations/{automation}/pause';
    const body = hours === '' ? {} : { seconds: Number(hours) * hourSeconds };
    await callApi('post', path, { factory, automation: name, body });
    announce(`Paused ${name}`);
    setAsking(false);
    onPaused();
  };
  if (pause)
    return (
      <>
        <button type="button" disabled={resuming.busy} onClick={() => resuming.run()}>
          Resume
        </button>
        <ProblemNotice error={resuming.error} />
      </>
    );
  return (
    <>
      <button type="button" class="btn" onClick={() => setAsking(true)}>
        Pause
      </button>
      {asking && (
        <FormDialog
          title={`Pause ${name}?`}
          action="Pause automation"
          onSubmit={submit}
          onClose={() => setAsking(false)}
        >
          <p>Deliveries are accepted, and runs recorded, but none starts. Runs that are at work go on.</p>
          <Field label="For">
            {ids => (
              <select {...ids} value={hours} onChange={event => setHours(event.currentTarget.value)}>
                <option value="">until somebody resumes it</option>
                {Object.entries(pauseHours).map(([label, value]) => (
                  <option key={label} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </FormDialog>
      )}
    </>
  );
}
