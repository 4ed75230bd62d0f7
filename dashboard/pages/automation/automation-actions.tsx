import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownAutomation } from '../../api-types.ts';
import { FormDialog } from '../../parts/dialog-form.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, redirectTo } from '../../state/current-location.ts';

/** The buttons that change an automation; nothing for a token that may only read. */
export function AutomationActions({ automation }: { readonly automation: ShownAutomation }) {
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
