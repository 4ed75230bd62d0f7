import type { Diagnostic } from '../../schema/diagnostics.ts';
import { ApiFailure, type ProblemDetails } from '../api-answers.ts';
import { Button } from './controls.tsx';
import { CopyableBlock } from './copyable.tsx';
import { Notice } from './notice.tsx';
import { Sign } from './signs.tsx';
import { Code, Text } from './text.tsx';

interface InsteadNoticeProperties {
  readonly title: string;
  readonly instead: NonNullable<ProblemDetails['instead']>;
}

interface Properties {
  /** Anything that was thrown; undefined renders nothing. */
  readonly error: unknown;
  readonly retry?: () => void;
}

/** Shows an error and what to do about it. An error of the API appears in the API's own words. */
export function ProblemNotice({ error, retry }: Properties) {
  if (error === undefined) return null;
  const problem = error instanceof ApiFailure ? error.problem : undefined;
  if (problem?.instead) return <InsteadNotice title={problem.title} instead={problem.instead} />;
  return (
    <Notice
      tone="bad"
      isAlert
      cause={problem?.title ?? (error instanceof ApiFailure ? error.message : 'Something went wrong')}
      action={retry && <Button look="small" label="Try again" onClick={retry} />}
    >
      {problem?.detail && !problem.mistakes && (
        <p>
          <Text text={problem.detail} />
        </p>
      )}
      {!(error instanceof ApiFailure) && (
        <p>
          <Text text={String(error)} />
        </p>
      )}
      {problem?.mistakes && <Mistakes mistakes={problem.mistakes} />}
      {problem?.diagnostics && <Diagnostics diagnostics={problem.diagnostics} />}
      {problem?.code === 'serial-moved' && (
        <p>Someone else made a change in the meantime. Reload the page and make your change again.</p>
      )}
    </Notice>
  );
}

function Mistakes({ mistakes }: { readonly mistakes: NonNullable<ProblemDetails['mistakes']> }) {
  return (
    <ul>
      {mistakes.map(({ pointer, message, hint }) => (
        <li key={pointer + message}>
          <Text text={message} />
          {hint && <Text class="hint" text={hint} />}
        </li>
      ))}
    </ul>
  );
}

export function Diagnostics({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) {
  return (
    <ul class="diagnostics">
      {diagnostics.map(diagnostic => (
        <li key={JSON.stringify(diagnostic)}>
          <Sign name={diagnostic.severity === 'error' ? 'failed' : 'warning'} label={diagnostic.severity} />
          <div>
            <p>
              <Text text={diagnostic.message} />
            </p>
            <p class="t3 small">
              <Code text={formatPosition(diagnostic)} /> · {diagnostic.code}
            </p>
            {diagnostic.hint && (
              <p class="hint">
                <Text text={diagnostic.hint} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function formatPosition({ file, range }: Diagnostic): string {
  return range ? `${file}:${range.start.line}:${range.start.column}` : file;
}

/** Says how to make a change in definition files when the dashboard may not make it. */
function InsteadNotice({ title, instead }: InsteadNoticeProperties) {
  return (
    <Notice isAlert cause={title}>
      <p>
        <Text text={instead.text} />
      </p>
      {instead.yaml !== undefined && (
        <CopyableBlock text={instead.yaml} what={instead.file ?? 'definition file'} />
      )}
      {instead.yaml === undefined && instead.file && (
        <p>
          <Code text={instead.file} />
        </p>
      )}
    </Notice>
  );
}
