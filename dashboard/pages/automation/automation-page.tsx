import { callApi } from '../../api-client.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { DefinitionFileSection } from '../../parts/definition-file.tsx';
import { EnabledPill } from '../../parts/enabled-pill.tsx';
import { FilterTest } from '../../parts/filter-test.tsx';
import { RunList } from '../../parts/log/run-list.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/use-load.ts';
import { escapeInvisible } from '../../text/escape-invisible.ts';
import { AppliedTriggers } from './applied-triggers.tsx';
import { AutomationActions } from './automation-actions.tsx';

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
