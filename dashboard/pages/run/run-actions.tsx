import { useState } from 'preact/hooks';
import { hasEnded } from '../../../schema/delivery.ts';
import type { ShownRun } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { FormDialog, Question } from '../../parts/dialog.tsx';
import { CodeField } from '../../parts/fields.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo } from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import { toHref } from '../../state/page-location.ts';
import { useAction } from '../../state/use-action.ts';
import { formatLength } from '../../text/format-time.ts';

/** A run of this age is asked about before it is cancelled, in ms. */
const askedAgeMs = 60_000;

const done = {
  retry: 'Run queued again',
  dismiss: 'Run dismissed',
  cancel: 'Run is being cancelled',
  approve: 'Run approved',
} as const;

type Act = keyof typeof done;

interface Properties {
  readonly run: ShownRun;
  readonly onChanged: (run: ShownRun) => void;
}

/** What may be done with a run in its state. */
export function RunActions({ run, onChanged }: Properties) {
  const { factory } = useFactory();
  const [asks, setAsks] = useState<'cancel' | 'again' | 'retry'>();
  const act = async (act: Act) => {
    onChanged(
      await callApi('post', `/factories/{factory}/runs/{run}/${act}`, { factory, run: run.id, body: {} }),
    );
    announce(done[act]);
  };
  const acting = useAction(act);
  const close = () => setAsks(undefined);
  const isOver = hasEnded(run.state);
  const mayCancel = !isOver && !run.cancel;
  const cancel = () =>
    Date.now() - Date.parse(run.createdAt) > askedAgeMs ? setAsks('cancel') : acting.run('cancel');
  useKeys({ 'Shift+R': () => run.state === 'failed' && setAsks('retry') });
  return (
    <>
      {run.state === 'failed' && !run.dismissed && (
        <Button label="Dismiss" {...acting.control} onClick={() => acting.run('dismiss')} />
      )}
      <Button label="Run again…" {...acting.control} onClick={() => setAsks('again')} />
      {mayCancel && <Button label="Cancel run" {...acting.control} onClick={cancel} />}
      {run.waitsFor === 'approval' && (
        <Button look="primary" label="Approve" {...acting.control} onClick={() => acting.run('approve')} />
      )}
      {run.state === 'failed' && (
        <Button
          look="primary"
          icon="again"
          label="Retry"
          {...acting.control}
          onClick={() => acting.run('retry')}
        />
      )}
      <ProblemNotice error={acting.error} />
      {asks && <Asking asks={asks} run={run} act={act} onClose={close} />}
    </>
  );
}

interface AskingProperties {
  readonly asks: 'cancel' | 'again' | 'retry';
  readonly run: ShownRun;
  readonly act: (act: Act) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before an action, or for what it needs. */
function Asking({ asks, run, act, onClose }: AskingProperties) {
  if (asks === 'again') return <RunAgain run={run} onClose={onClose} />;
  if (asks === 'retry') {
    return (
      <Question
        title="Retry this run?"
        keep="Leave it"
        act="Retry"
        acting="Retrying…"
        onAct={() => act('retry')}
        onClose={onClose}
      >
        <p>It is queued again, and its attempts are counted from zero.</p>
      </Question>
    );
  }
  return (
    <Question
      title="Cancel this run?"
      keep="Let it run"
      act="Cancel run"
      acting="Cancelling…"
      isDangerous
      onAct={() => act('cancel')}
      onClose={onClose}
    >
      <p>{describeCancelled(run)}</p>
    </Question>
  );
}

function describeCancelled({ state, startedAt }: ShownRun): string {
  if (state !== 'running' || startedAt === null) return 'It never starts, and it is not retried.';
  const length = formatLength(Date.now() - Date.parse(startedAt));
  return `It has worked for ${length}. What it did outside stays done. It is not retried.`;
}

/** Starts a new run for the same delivery, with the prompt as it is then in the field. */
function RunAgain({ run, onClose }: { readonly run: ShownRun; readonly onClose: () => void }) {
  const { factory } = useFactory();
  const [prompt, setPrompt] = useState(run.prompt ?? '');
  const submit = async () => {
    const changed = prompt === (run.prompt ?? '') ? {} : { prompt };
    const { id } = await callApi('post', '/factories/{factory}/runs/{run}/again', {
      factory,
      run: run.id,
      body: changed,
    });
    onClose();
    announce('Run queued', { label: 'Open', href: toHref({ page: 'run', factory, id }) });
    goTo({ page: 'run', factory, id });
  };
  return (
    <FormDialog title="Run again" action="Start a run" onSubmit={submit} onClose={onClose}>
      <p>A new run does the work again, with the payload of the same delivery. This one stays as it is.</p>
      {run.prompt !== undefined && (
        <CodeField
          label="Prompt"
          hint="Changes are for this run only."
          rows={10}
          value={prompt}
          onInput={setPrompt}
        />
      )}
    </FormDialog>
  );
}
