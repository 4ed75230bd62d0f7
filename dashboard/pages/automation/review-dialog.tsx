import { describeImpact } from '../../../schema/changes/describe-impact.ts';
import { showChange } from '../../../schema/changes/show-change.ts';
import type { PlannedChange } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { CopyButton } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DiffBlock } from '../../parts/diff-block.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { Notice } from '../../parts/notice.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import type { AutomationBody } from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { useAction } from '../../state/use-action.ts';

interface Properties {
  readonly name: string;
  readonly text: string;
  readonly body: AutomationBody;
  /** The YAML from which the text was made; undefined for a new automation. */
  readonly base: string | undefined;
  readonly onApplied: () => void;
  /** Drops the text, and shows what somebody else applied. */
  readonly onStartAgain: () => void;
  readonly onClose: () => void;
}

const shownPath = '/factories/{factory}/automations/{automation}';

/** Shows what a draft would change, with its impact on runs. Then it is applied, or copied as a file. */
export function ReviewDialog(properties: Properties) {
  const { name, text, body, base, onApplied, onStartAgain, onClose } = properties;
  const { factory, managedHere } = useFactory();
  const isNew = base === undefined;
  const { value, error, reload } = usePlan(name, body, base);
  const applying = useAction(async () => {
    if (!value) return;
    const given = { factory, ifSerial: value.serial };
    await (isNew
      ? callApi('post', '/factories/{factory}/automations', { ...given, body: { name, ...body } })
      : callApi('put', shownPath, { ...given, automation: name, body }));
    announce(isNew ? `Created ${name}` : `Applied ${name}`);
    onApplied();
  });
  const change = value?.change;
  return (
    <Dialog title={isNew ? `Create ${name}?` : `Apply the changes of ${name}?`} onClose={onClose}>
      <div class="review">
        {value?.isMoved && <MovedNotice onStartAgain={onStartAgain} />}
        {change ? (
          <ChangeList change={change} />
        ) : (
          <Waiting error={error} reload={reload} what="the changes" />
        )}
        {change && !managedHere && (
          <p>
            This factory is managed in files. Write <Code text={fileOf(name)} />, and commit it, or run{' '}
            <code>hookmill apply</code>.
          </p>
        )}
        <ProblemNotice error={applying.error} retry={reload} />
      </div>
      <div class="actions">
        <Button label="Keep editing" onClick={onClose} />
        {change && !managedHere && <CopyButton text={text} what="as file" named />}
        {change && change.action !== 'no-op' && managedHere && (
          <Button
            look="primary"
            label={applying.busy ? 'Applying…' : isNew ? 'Create automation' : 'Apply'}
            {...applying.control}
            onClick={() => applying.run()}
          />
        )}
      </div>
    </Dialog>
  );
}

/** Plans the change, and finds out whether somebody else changed the automation since it was read. */
function usePlan(name: string, body: AutomationBody, base: string | undefined) {
  const { factory } = useFactory();
  return useLoad(
    async signal => {
      const planned = { factory, body: { name, ...body }, signal };
      const [plan, shown] = await Promise.all([
        callApi('post', '/factories/{factory}/automation-plan', planned),
        base === undefined ? undefined : callApi('get', shownPath, { factory, automation: name, signal }),
      ]);
      return { ...plan, isMoved: shown !== undefined && shown.yaml !== base };
    },
    [factory, name],
  );
}

function fileOf(name: string): string {
  return `automations/${name}.yaml`;
}

function MovedNotice({ onStartAgain }: Pick<Properties, 'onStartAgain'>) {
  return (
    <Notice
      tone="warn"
      cause="Someone else made a change in the meantime."
      action={<Button look="small" label="Drop mine" onClick={onStartAgain} />}
    >
      The differences below are from theirs to yours.
    </Notice>
  );
}

/** Shows a change: each part of the definition before and after, and the impact on runs. */
function ChangeList({ change: { action, fields, impact } }: { readonly change: PlannedChange }) {
  if (action === 'no-op') return <p class="t3">Nothing changes.</p>;
  return (
    <>
      {impact && (
        <ul class="effects">
          {describeImpact(impact, Date.now()).map(sentence => (
            <li key={sentence}>
              <Text text={sentence} />
            </li>
          ))}
        </ul>
      )}
      <ul class="changes">
        {fields.map(field => {
          const { path, lines } = showChange(field);
          return (
            <li key={path}>
              <Code text={path} />
              <DiffBlock lines={lines} />
            </li>
          );
        })}
      </ul>
    </>
  );
}
