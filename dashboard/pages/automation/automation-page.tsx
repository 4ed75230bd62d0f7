import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import { LinkButton } from '../../parts/controls.tsx';
import { NameField } from '../../parts/fields.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { Notice } from '../../parts/notice.tsx';
import { createAutomationText } from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { redirectTo } from '../../state/current-location.ts';
import { useLoad } from '../../state/loading.ts';
import type { LocationQuery } from '../../state/page-location.ts';
import { AutomationEditor } from './automation-editor.tsx';

/** Shows an automation, and edits it. */
export function AutomationPage({ name }: { readonly name: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    async signal => {
      const given = { factory, signal };
      const [automation, { webhooks }, { runners }, { pauses }, { automations }] = await Promise.all([
        callApi('get', '/factories/{factory}/automations/{automation}', { ...given, automation: name }),
        callApi('get', '/factories/{factory}/webhooks', given),
        callApi('get', '/factories/{factory}/runners', given),
        callApi('get', '/factories/{factory}/pauses', given),
        callApi('get', '/factories/{factory}/run-tallies', given),
      ]);
      const pause = pauses.find(pause => pause.automation === name);
      const runs = automations.find(tallied => tallied.automation === name);
      return { automation, webhooks, runners, pause, runs };
    },
    [factory, name],
  );
  if (!value) return <Loading error={error} reload={reload} />;
  const { automation, webhooks, runners, pause, runs } = value;
  return (
    <AutomationEditor
      name={name}
      initial={automation.yaml}
      applied={{ automation, pause, runs }}
      webhooks={webhooks}
      runners={runners}
      onChanged={reload}
      onApplied={reload}
    />
  );
}

/** Begins a new automation with a text that starts a run for each delivery of one webhook. */
export function NewAutomationPage({ query = {} }: { readonly query?: LocationQuery | undefined }) {
  const { factory, mayManage, managedHere, reload: reloadFactory } = useFactory();
  const [name, setName] = useState('');
  const { value, error, reload } = useLoad(
    async signal => {
      const [{ webhooks }, { runners }] = await Promise.all([
        callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
        callApi('get', '/factories/{factory}/runners', { factory, signal }),
      ]);
      return { webhooks, runners };
    },
    [factory],
  );
  if (!mayManage)
    return (
      <div class="page editor">
        <Notice cause="You need the manage permission to create automations." />
      </div>
    );
  if (!value) return <Loading error={error} reload={reload} />;
  const { webhooks, runners } = value;
  const wanted = webhooks.find(webhook => webhook.name === query.webhook) ?? webhooks[0];
  return (
    <AutomationEditor
      name={name}
      initial={createAutomationText(wanted?.name ?? 'the-name-of-a-webhook')}
      webhooks={webhooks}
      runners={runners}
      onChanged={reload}
      onApplied={() => {
        reloadFactory();
        redirectTo({ page: 'automation', factory, id: name });
      }}
      lead={
        <>
          {webhooks.length === 0 && (
            <Notice
              cause="This factory has no webhook yet."
              more="An automation starts when a webhook gets a delivery."
              action={
                <LinkButton
                  look="small"
                  label={managedHere ? 'Add a webhook' : 'Draft a webhook'}
                  to={{ page: 'new-webhook', factory }}
                />
              }
            />
          )}
          <NameField value={name} onInput={setName} example="triage-errors" />
        </>
      }
    />
  );
}

function Loading({ error, reload }: { readonly error: unknown; readonly reload: () => void }) {
  return (
    <div class="page editor">
      <Waiting error={error} reload={reload} what="the automation" />
    </div>
  );
}
