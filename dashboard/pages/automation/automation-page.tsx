import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { AutomationDetail } from '../../api-types.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { Confirm } from '../../parts/confirm-dialog.tsx';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { FilterTest } from '../../parts/filter-test/filter-test.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Waiting } from '../../parts/problem-notice.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { go, goInstead } from '../../state/current-location.ts';
import { hrefOf } from '../../state/page-location.ts';
import { useLoad } from '../../state/use-load.ts';
import { visibleText } from '../../text/escape-invisible.ts';
import { filterText } from '../../text/format-filter.ts';
import { RunList } from './run-list.tsx';

const path = '/factories/{factory}/automations/{automation}';

export function AutomationPage({ name }: { readonly name: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal => callApi('get', path, { factory, automation: name, signal }),
    [factory, name],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the automation" />;
  return (
    <>
      <Breadcrumb to={{ page: 'automations', factory }} label="Automations" />
      <PageHeading title={name}>
        <Pill tone={value.enabled ? 'good' : 'quiet'}>{value.enabled ? 'Enabled' : 'Disabled'}</Pill>
        <Actions automation={value} />
      </PageHeading>
      <section class="card padded">
        <h2>Prompt</h2>
        <pre class="prompt">{visibleText(value.prompt)}</pre>
      </section>
      <Triggers automation={value} />
      <section class="card padded">
        <h2>Test filter</h2>
        <FilterTest
          subject={{ automation: name }}
          webhook={value.triggers.length === 1 ? value.triggers[0]?.uid : undefined}
        />
      </section>
      <DefinitionFile automation={value} />
      <RunList automation={name} />
    </>
  );
}

function Actions({ automation }: { readonly automation: AutomationDetail }) {
  const { factory, mayManage, managedHere } = useFactory();
  const [deleting, setDeleting] = useState(false);
  if (!mayManage) return null;
  const { name, serial } = automation;
  const remove = async () => {
    await callApi('delete', path, { factory, automation: name, ifSerial: serial });
    announce(`Deleted ${name}`);
    goInstead({ page: 'automations', factory });
  };
  return (
    <div class="actions push">
      <button type="button" onClick={() => go({ page: 'edit-automation', factory, id: name })}>
        {managedHere ? 'Edit' : 'Write a change'}
      </button>
      {managedHere && (
        <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
          Delete
        </button>
      )}
      {deleting && (
        <Confirm
          title={`Delete ${name}?`}
          action="Delete automation"
          danger
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>Deliveries start no more runs of it. Its runs stay in the log.</p>
        </Confirm>
      )}
    </div>
  );
}

function Triggers({ automation }: { readonly automation: AutomationDetail }) {
  const { factory } = useFactory();
  return (
    <section class="card padded">
      <h2>{automation.triggers.length === 1 ? 'Trigger' : 'Triggers'}</h2>
      <ul class="triggers">
        {automation.triggers.map((trigger, index) => (
          <li key={index}>
            <p>
              A delivery of{' '}
              {trigger.webhook === null ? (
                <>
                  <Code text={trigger.uid} /> <Pill tone="warn">deleted webhook: never fires</Pill>
                </>
              ) : (
                <a href={hrefOf({ page: 'webhook', factory, id: trigger.uid })}>
                  <Text text={trigger.webhook} />
                </a>
              )}{' '}
              {trigger.payload === undefined
                ? 'always starts a run.'
                : 'starts a run if its payload matches:'}
            </p>
            {trigger.payload !== undefined && (
              <CopyableBlock text={filterText(trigger.payload)} what="payload filter" />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function DefinitionFile({ automation }: { readonly automation: AutomationDetail }) {
  const { managedHere, status } = useFactory();
  if (managedHere) return null;
  return (
    <section class="card padded">
      <h2>Definition file</h2>
      <p>
        {automation.file !== null && <Code text={automation.file} />}
        {status.revision !== null && (
          <>
            {' '}
            at revision <Code text={status.revision.slice(0, 12)} />
          </>
        )}
        . To change the automation, change the file.
      </p>
      <CopyableBlock text={automation.yaml} what={automation.file ?? `automations/${automation.name}.yaml`} />
    </section>
  );
}
