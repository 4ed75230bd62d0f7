import { callApi } from '../../api-client.ts';
import { Waiting } from '../../parts/lists.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { announce } from '../../state/announcements.ts';
import {
  type AutomationBody,
  createAutomationDraft,
  toAutomationDraft,
} from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { AutomationForm } from './automation-form.tsx';

const path = '/factories/{factory}/automations/{automation}';

export function EditAutomationPage({ name }: { readonly name: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal => callApi('get', path, { factory, automation: name, signal }),
    [factory, name],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the automation" />;
  const save = async (_: string, body: AutomationBody) => {
    await callApi('put', path, { factory, automation: name, ifSerial: value.serial, body });
    announce(`Saved ${name}`);
  };
  return (
    <>
      <Breadcrumb to={{ page: 'automation', factory, id: name }} label={name} />
      <PageHeading title={`Edit ${name}`} />
      <AutomationForm initial={toAutomationDraft(value)} isNew={false} onSave={save} />
    </>
  );
}

export function NewAutomationPage() {
  const { factory, reload } = useFactory();
  const create = async (name: string, automation: AutomationBody) => {
    await callApi('post', '/factories/{factory}/automations', { factory, body: { name, ...automation } });
    announce(`Created ${name}`);
    reload();
  };
  return (
    <>
      <Breadcrumb to={{ page: 'automations', factory }} label="Automations" />
      <PageHeading title="New automation" />
      <AutomationForm initial={createAutomationDraft()} isNew onSave={create} />
    </>
  );
}
