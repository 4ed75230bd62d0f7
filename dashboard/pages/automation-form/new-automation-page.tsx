import { callApi } from '../../api-client.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { announce } from '../../state/announcements.ts';
import { type AutomationBody, createAutomationDraft } from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { AutomationForm } from './automation-form.tsx';

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
