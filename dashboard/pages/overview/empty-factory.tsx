import type { ComponentChildren } from 'preact';
import { LinkButton } from '../../parts/controls.tsx';
import { CopyableBlock, CopyableLine } from '../../parts/copyable.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Path, type PathStep } from '../../parts/path.tsx';
import { attention } from '../../state/attention.ts';
import { useFactory } from '../../state/current-factory.ts';
import type { FactoryDays } from '../../state/loaded-objects.ts';
import { AttentionList } from './attention-list.tsx';

/** Leads to the first delivery, in three steps, each with its command, and with its button if it can be done here. */
export function EmptyFactory({ days: { webhooks, runs } }: { readonly days: FactoryDays }) {
  const { factory, mayManage, managedHere } = useFactory();
  const hookmill = factory === 'default' ? 'hookmill' : `hookmill --factory ${factory}`;
  const [first] = webhooks;
  const name = first?.name ?? 'github';
  const isHere = mayManage && managedHere;
  const isAutomated = runs.automations.length > 0;
  const done = [first !== undefined, false, isAutomated];
  const reached = done.indexOf(false);
  const steps = [
    <AddStep key="add" hookmill={hookmill} isHere={isHere} isDone={first !== undefined} />,
    <SendStep key="send" command={`${hookmill} send ${name} --payload event.json`} />,
    <ActStep
      key="act"
      uid={first?.uid ?? 'wh_…'}
      isHere={isHere && first !== undefined}
      isDone={isAutomated}
    />,
  ];
  const titles = ['Add a webhook', 'Send it a delivery', 'Act on it'];
  return (
    <div class="page narrow">
      <PageHeading
        isVerdict
        title="Receive your first webhook"
        windowTitle="Overview"
        sub={
          isHere
            ? 'Three steps, in the files of this factory or here in the dashboard.'
            : 'Three steps, in the files of this factory.'
        }
      />
      <AttentionList items={attention.value} isNamed={false} details={new Map()} />
      <Path
        label="To the first webhook"
        steps={titles.map((title, index): PathStep => {
          const [isDone, isNext] = [done[index], index === reached];
          return {
            key: title,
            sign: isDone ? 'done' : isNext ? 'turn' : 'queued',
            title: (
              <>
                <b>{title}</b>
                {isDone && <span class="unseen"> (done)</span>}
              </>
            ),
            more: steps[index],
            ...(!isDone && { stage: isNext ? 'now' : 'next' }),
          };
        })}
      />
    </div>
  );
}

interface StepProperties {
  /** Whether it can be done in the dashboard. */
  readonly isHere: boolean;
  readonly isDone: boolean;
}

function AddStep({ hookmill, isHere, isDone }: StepProperties & { readonly hookmill: string }) {
  const { factory } = useFactory();
  if (isDone) return null;
  const commands = ['add github', 'secrets generate GITHUB_WEBHOOK', 'apply'].map(
    command => `${hookmill} ${command}`,
  );
  return (
    <Step text="Over 100 providers are known. hookmill checks their signatures.">
      <CopyableBlock what="In the factory’s directory" text={commands.join('\n')} />
      {isHere && (
        <div class="flow">
          <span class="t3">or</span>
          <LinkButton look="primary" icon="plus" label="New webhook" to={{ page: 'new-webhook', factory }} />
        </div>
      )}
    </Step>
  );
}

function SendStep({ command }: { readonly command: string }) {
  return (
    <Step text="Register the URL at the provider, or send a payload of your own.">
      <CopyableLine text={command} what="command" isCommand />
    </Step>
  );
}

function ActStep({ uid, isHere, isDone }: StepProperties & { readonly uid: string }) {
  const { factory } = useFactory();
  if (isDone) return null;
  const lines = [
    'prompt: Find out why this failed.',
    'triggers:',
    '  - provider: webhook',
    '    event: received',
    '    filter:',
    `      webhook_ids: [${uid}]${uid === 'wh_…' ? ' # hookmill webhooks list' : ''}`,
    '      payload: { action: [failed] }',
  ];
  return (
    <Step text="An automation is a prompt and a filter. Each delivery that matches starts a run.">
      <CopyableBlock what="automations/triage.yaml" text={lines.join('\n')} />
      {isHere && (
        <div class="flow">
          <span class="t3">or</span>
          <LinkButton icon="plus" label="New automation" to={{ page: 'new-automation', factory }} />
        </div>
      )}
    </Step>
  );
}

function Step({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
  return (
    <div class="first-step">
      <p class="t2">{text}</p>
      {children}
    </div>
  );
}
