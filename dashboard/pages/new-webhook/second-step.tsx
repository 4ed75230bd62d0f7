import { useEffect } from 'preact/hooks';
import type { ListedScheme } from '../../api-answers.ts';
import { CopyableBlock, CopyableLine } from '../../parts/copyable.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { Path, type PathStep } from '../../parts/path.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { splitProvider } from '../../text/senders.ts';
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
