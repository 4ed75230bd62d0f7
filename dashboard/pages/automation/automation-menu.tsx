import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownAutomation, ShownPause } from '../../api-types.ts';
import { Segments } from '../../parts/controls.tsx';
import { Question } from '../../parts/dialog.tsx';
import { FormDialog } from '../../parts/dialog-form.tsx';
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
  const entries = [
    { label: 'Runs', href: toHref({ page: 'runs', factory, query: { automation: name } }) },
    ...(mayManage
      ? [
          pause
            ? { label: 'Resume', onChoose: act(resume) }
            : { label: 'Pause…', onChoose: () => setAsked('pause') },
        ]
      : []),
    ...(mayManage && managedHere
      ? [
          ...(hasChanges
            ? []
            : [
                enabled
                  ? { label: 'Disable…', onChoose: () => setAsked('disable') }
                  : { label: 'Enable', onChoose: act(() => enable(true)) },
              ]),
          null,
          { label: 'Delete…', isBad: true, onChoose: () => setAsked('delete') },
        ]
      : []),
  ];
  return (
    <>
      <Menu label="More actions" entries={entries} />
      {asked === 'pause' && <PauseDialog name={name} onPaused={onChanged} onClose={close} />}
      {asked === 'disable' && (
        <Question
          title={`Disable ${name}?`}
          keep="Keep it"
          act={`Disable ${name}`}
          acting="Disabling…"
          isDangerous
          onAct={() => enable(false)}
          onClose={close}
        >
          <p>Deliveries are accepted, and no longer start runs of it. Runs that wait or run go on.</p>
        </Question>
      )}
      {asked === 'delete' && (
        <Question
          title={`Delete ${name}?`}
          keep="Keep it"
          act={`Delete ${name}`}
          acting="Deleting…"
          isDangerous
          onAct={remove}
          onClose={close}
        >
          <p>Deliveries no longer start runs of it. Past runs stay in the log.</p>
        </Question>
      )}
    </>
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
