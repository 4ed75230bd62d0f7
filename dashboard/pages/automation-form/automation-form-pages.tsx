import { callApi } from '../../api-client.ts';
import type { ShownAutomation } from '../../api-types.ts';
import { Waiting } from '../../parts/lists.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { announce } from '../../state/announcements.ts';
import {
  type AutomationBody,
  createAutomationDraft,
  toAutomationDraft,
} from '../../state/automation-draft.ts';
import { applyChange, readChange } from '../../state/clause-change.ts';
import { useFactory } from '../../state/current-factory.ts';
import { currentLocation } from '../../state/current-location.ts';
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
      <AutomationForm initial={toAutomationDraft(withChange(value))} isNew={false} onSave={save} />
    </>
  );
}

/** An automation with the change in the address, which its reader sees before it is saved. */
function withChange<T extends ShownAutomation>(automation: T): T {
  const location = currentLocation.value;
  const change = readChange('query' in location ? location.query : undefined);
  return change ? { ...automation, triggers: applyChange(automation.triggers, change) } : automation;
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
