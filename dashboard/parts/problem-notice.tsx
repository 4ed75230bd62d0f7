import type { ComponentChildren } from 'preact';
import { ApiFailure } from '../api-client.ts';
import { Diagnostics } from './diagnostics.tsx';
import { InsteadNotice } from './instead-notice.tsx';
import { Text } from './text.tsx';

interface Properties {
  /** Whatever was thrown; nothing shows nothing. */
  readonly error: unknown;
  readonly retry?: () => void;
}

/** What went wrong, in the API's words, and what to do about it. */
export function ProblemNotice({ error, retry }: Properties) {
  if (error === undefined) return null;
  const problem = error instanceof ApiFailure ? error.problem : undefined;
  if (problem?.instead) return <InsteadNotice title={problem.title} instead={problem.instead} />;
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>
          {problem?.title ?? (error instanceof ApiFailure ? error.message : 'Something went wrong here')}
        </strong>
      </p>
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
      {problem?.mistakes && <Mistakes of={problem.mistakes} />}
      {problem?.diagnostics && <Diagnostics of={problem.diagnostics} />}
      {problem?.code === 'serial-moved' && (
        <p>Somebody else changed it meanwhile. Load it again and repeat your change.</p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function Mistakes({ of }: { readonly of: NonNullable<NonNullable<ApiFailure['problem']>['mistakes']> }) {
  return (
    <ul>
      {of.map(({ pointer, message, hint }) => (
        <li key={pointer + message}>
          <Text text={message} />
          {hint && (
            <span class="hint">
              <Text text={hint} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The states that a page goes through before it has something to show. */
export function Waiting({
  error,
  reload,
  what,
}: {
  readonly error: unknown;
  readonly reload: () => void;
  readonly what: string;
}) {
  if (error !== undefined) return <ProblemNotice error={error} retry={reload} />;
  return (
    <p class="waiting" role="status">
      Loading {what}…
    </p>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
