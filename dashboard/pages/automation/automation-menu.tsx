import { useState } from 'preact/hooks';
import type { ShownAutomation, ShownPause } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Segments } from '../../parts/controls.tsx';
import { FormDialog, Question } from '../../parts/dialog.tsx';
import { Menu } from '../../parts/menu.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { redirectTo } from '../../state/current-location.ts';
import { toHref } from '../../state/page-location.ts';

interface Properties {
  readonly automation: ShownAutomation;
  readonly pause: ShownPause | undefined;
  /** Whether the text has changes, which a change of anything else would be lost behind. */
  readonly hasChanges: boolean;
  readonly onChanged: () => void;
  readonly onFailed: (error: unknown) => void;
}

type Asked = 'pause' | 'disable' | 'delete';

/** The menu of an automation: everything that is done to it besides its text. */
export function AutomationMenu({ automation, pause, hasChanges, onChanged, onFailed }: Properties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [asked, setAsked] = useState<Asked>();
  const { name, enabled, serial } = automation;
  const close = () => setAsked(undefined);
  const given = { factory, automation: name };
  const path = '/factories/{factory}/automations/{automation}';
  const resume = async () => {
    await callApi('post', `${path}/resume`, { ...given, body: {} });
    announce(`Resumed ${name}`);
    onChanged();
  };
  const enable = async (wanted: boolean) => {
    await callApi('put', path, { ...given, ifSerial: serial, body: toRequest(automation, wanted) });
    announce(`${wanted ? 'Enabled' : 'Disabled'} ${name}`);
    onChanged();
  };
  const remove = async () => {
    await callApi('delete', path, { ...given, ifSerial: serial });
    announce(`Deleted ${name}`);
    redirectTo({ page: 'automations', factory });
  };
  const act = (work: () => Promise<void>) => () => void work().catch(onFailed);
  const enabling = enabled
    ? { label: 'Disable…', onChoose: () => setAsked('disable') }
    : { label: 'Enable', onChoose: act(() => enable(true)) };
  const pausing = pause
    ? { label: 'Resume', onChoose: act(resume) }
    : { label: 'Pause…', onChoose: () => setAsked('pause') };
  const entries = [
    { label: 'Runs', href: toHref({ page: 'runs', factory, query: { automation: name } }) },
    ...(mayManage ? [pausing] : []),
    ...(mayManage && managedHere && !hasChanges ? [enabling] : []),
    ...(mayManage && managedHere
      ? [null, { label: 'Delete…', isBad: true, onChoose: () => setAsked('delete') }]
      : []),
  ];
  return (
    <>
      <Menu label="More actions" entries={entries} />
      {asked === 'pause' && <PauseDialog name={name} onPaused={onChanged} onClose={close} />}
      {asked === 'disable' && (
        <Sure verb="Disable" acting="Disabling…" name={name} onAct={() => enable(false)} onClose={close}>
          Deliveries are accepted, and no longer start runs of it. Runs that wait or run go on.
        </Sure>
      )}
      {asked === 'delete' && (
        <Sure verb="Delete" acting="Deleting…" name={name} onAct={remove} onClose={close}>
          Deliveries no longer start runs of it. Past runs stay in the log.
        </Sure>
      )}
    </>
  );
}

interface SureProperties {
  readonly verb: string;
  readonly acting: string;
  readonly name: string;
  readonly children: string;
  readonly onAct: () => Promise<void>;
  readonly onClose: () => void;
}

function Sure({ verb, acting, name, children, onAct, onClose }: SureProperties) {
  const act = `${verb} ${name}`;
  return (
    <Question title={`${act}?`} keep="Keep it" {...{ act, acting, onAct, onClose }} isDangerous>
      <p>{children}</p>
    </Question>
  );
}

/** What the API showed, as it takes it back. */
function toRequest(automation: ShownAutomation, enabled: boolean) {
  const { yaml: _, ...shown } = automation;
  return { ...shown, enabled } as never;
}

const hourSeconds = 3_600;

interface PauseProperties {
  readonly name: string;
  readonly onPaused: () => void;
  readonly onClose: () => void;
}

/** Asks for how long. */
function PauseDialog({ name, onPaused, onClose }: PauseProperties) {
  const { factory } = useFactory();
  const [hours, setHours] = useState('');
  const pause = async () => {
    const path = '/factories/{factory}/automations/{automation}/pause';
    const body = hours === '' ? {} : { seconds: Number(hours) * hourSeconds };
    await callApi('post', path, { factory, automation: name, body });
    announce(`Paused ${name}`);
    onPaused();
    onClose();
  };
  return (
    <FormDialog title={`Pause ${name}?`} action={`Pause ${name}`} onSubmit={pause} onClose={onClose}>
      <p>Deliveries are accepted, and runs recorded, but none starts. Runs that are at work go on.</p>
      <Segments
        label="For how long"
        value={hours}
        options={[
          ['', 'Until somebody resumes it'],
          ['1', '1 hour'],
          ['8', '8 hours'],
          ['24', '1 day'],
        ]}
        onChange={setHours}
      />
    </FormDialog>
  );
}
