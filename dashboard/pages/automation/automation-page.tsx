import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownAutomation } from '../../api-types.ts';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { DefinitionFileSection } from '../../parts/definition-file.tsx';
import { FormDialog } from '../../parts/dialog-form.tsx';
import { FilterTest } from '../../parts/filter-test.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { RunList } from '../../parts/log/run-list.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { EnabledPill, Pill } from '../../parts/pills.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, redirectTo } from '../../state/current-location.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { escapeInvisible, formatFilter } from '../../text/format-values.ts';

type Triggers = ShownAutomation['triggers'];

export function AutomationPage({ name }: { readonly name: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal =>
      callApi('get', '/factories/{factory}/automations/{automation}', { factory, automation: name, signal }),
    [factory, name],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the automation" />;
  return (
    <>
      <Breadcrumb to={{ page: 'automations', factory }} label="Automations" />
      <PageHeading title={name}>
        <EnabledPill enabled={value.enabled} />
        <AutomationActions automation={value} />
      </PageHeading>
      <section class="card padded">
        <h2>Prompt</h2>
        <pre class="prompt">{escapeInvisible(value.prompt)}</pre>
      </section>
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
      <RunList title="Runs" fixed={{ automation: name }} />
    </>
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

/** The buttons that change an automation; nothing for a token that may only read. */
function AutomationActions({ automation }: { readonly automation: ShownAutomation }) {
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
      <button type="button" onClick={() => goTo({ page: 'edit-automation', factory, id: name })}>
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
