import { useEffect, useState } from 'preact/hooks';
import type { CreatedWebhook, ListedScheme, ListedWebhook } from '../../api-answers.ts';
import { Button } from '../../parts/controls.tsx';
import { CopyableBlock, CopyableLine } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { Path, type PathStep } from '../../parts/path.tsx';
import { useSendTest } from '../../parts/send-test.tsx';
import { NothingComes, SetupPath } from '../../parts/setup-path.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, useSecretOnScreen } from '../../state/current-location.ts';
import { useListeners, useSchemeOf } from '../../state/loaded-objects.ts';
import { areSettled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { useOpenedAt, useWhy } from '../../state/use-why.ts';
import { getSenderLine, getSenderName, splitProvider } from '../../text/senders.ts';
import type { DraftedFile } from './webhook-form.tsx';

/** The two steps, with the current one. */
export function StepsNav({ current, second }: { readonly current: 1 | 2; readonly second: string }) {
  return (
    <ol class="steps-nav">
      {['Provider and secret', second].map((label, index) => (
        <li key={index} aria-current={index + 1 === current ? 'step' : undefined}>
          {index + 1 < current ? <Sign name="done" label="done" /> : <span class="num">{index + 1}</span>}
          {label}
        </li>
      ))}
    </ol>
  );
}

/** The second step: the URL and the secret of the new webhook, what to do at its sender, and the wait for the first delivery. */
export function RegisterView({ created }: { readonly created: CreatedWebhook }) {
  const { factory } = useFactory();
  const [webhook, setWebhook] = useState(created.webhook);
  const [isKept, setKept] = useState(created.revealed === null);
  const scheme = useSchemeOf(webhook);
  const listeners = useListeners(webhook.uid);
  const openedMs = useOpenedAt();
  const why = useWhy(webhook.uid, [webhook.credential]);
  // The form may have been scrolled.
  useEffect(() => scrollTo(0, 0), []);
  const isProvider = webhook.authMode === 'signature' && schemeOf(webhook) !== null;
  const second = isProvider ? `Register at ${getSenderName(webhook)}` : 'Set up the sender';
  return (
    <div class="page reading">
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading
        title={webhook.name}
        mark={<Monogram scheme={schemeOf(webhook)} name={webhook.name} size="l" />}
        sub={<span>{getSenderLine(webhook)}</span>}
      />
      <StepsNav current={2} second={second} />
      {!isKept && <LeaveQuestion onLeave={() => setKept(true)} />}
      <div class="split beside">
        {areSettled(scheme, listeners) && (
          <SetupPath
            webhook={webhook}
            scheme={scheme.value ?? null}
            listeners={listeners.value ?? []}
            why={why.value}
            sinceMs={openedMs}
            created={{
              at: new Date(openedMs).toISOString(),
              secret: created.revealed,
              onCopied: () => setKept(true),
            }}
            onChanged={setWebhook}
          />
        )}
        <aside>
          <NothingComes webhook={webhook} scheme={scheme.value ?? null}>
            <NextActions webhook={webhook} onTested={why.reload} />
          </NothingComes>
        </aside>
      </div>
    </div>
  );
}

interface ActionProperties {
  readonly webhook: ListedWebhook;
  readonly onTested: () => void;
}

function NextActions({ webhook, onTested }: ActionProperties) {
  const { factory } = useFactory();
  const test = useSendTest(webhook, onTested);
  return (
    <>
      {test.shown}
      <div class="actions">
        {test.button}
        <Button
          label="Open the webhook"
          onClick={() => goTo({ page: 'webhook', factory, id: webhook.uid })}
        />
      </div>
    </>
  );
}

/** Keeps the page as long as its secret was not copied, and asks when somebody leaves it. */
function LeaveQuestion({ onLeave }: { readonly onLeave: () => void }) {
  const { factory } = useFactory();
  useSecretOnScreen();
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    const ask = () => setAsking(true);
    addEventListener('hashchange', ask);
    return () => removeEventListener('hashchange', ask);
  }, []);
  const stay = () => {
    history.replaceState(null, '', toHref({ page: 'new-webhook', factory }));
    setAsking(false);
  };
  if (!isAsking) return null;
  return (
    <Dialog title="Leave without the secret?" onClose={stay}>
      <p>Nobody copied it. When you leave this page, it cannot be shown again: it must be rotated.</p>
      <div class="actions">
        <Button look="primary" label="Stay" autofocus onClick={stay} />
        <Button label="Leave" onClick={onLeave} />
      </div>
    </Dialog>
  );
}

interface Properties {
  readonly file: DraftedFile;
  readonly schemes: readonly ListedScheme[];
}

/** The second step in a factory that is managed by files: the command for the secret, the file, and how it is applied. */
export function FileView({ file: { instead, sender, secretCommand }, schemes }: Properties) {
  const { factory, followsBranch } = useFactory();
  const scheme = schemes.find(({ id }) => id === sender.scheme);
  const path = instead.file ?? 'the definition file';
  // The form may have been scrolled.
  useEffect(() => scrollTo(0, 0), []);
  return (
    <div class="page reading">
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading title="New webhook" />
      <StepsNav current={2} second="Write the file" />
      <Path
        label="What to do"
        steps={[
          ...(secretCommand === undefined ? [] : [toSecretStep(secretCommand, scheme)]),
          {
            key: 'file',
            sign: 'turn',
            stage: 'now',
            title: (
              <b>
                Write <Code text={path} />
              </b>
            ),
            more: (
              <div class="setup">
                <CopyableBlock text={instead.yaml ?? ''} what={path} />
              </div>
            ),
          },
          {
            key: 'apply',
            sign: 'queued',
            stage: 'next',
            title: followsBranch ? 'Commit it to the branch that the factory follows' : 'Run hookmill apply',
            more: 'The webhook then has its URL, and its page says what to do at the sender.',
          },
        ]}
      />
    </div>
  );
}

function toSecretStep(command: string, scheme: ListedScheme | undefined): PathStep {
  return {
    key: 'secret',
    sign: 'turn',
    stage: 'now',
    title: <b>Make the team secret</b>,
    more: (
      <div class="stack setup">
        {scheme && (
          <p>
            {splitProvider(scheme.provider)[0]}: <Text text={scheme.secretLocation} />.
          </p>
        )}
        <CopyableLine text={command} what="command" isCommand />
      </div>
    ),
  };
}
