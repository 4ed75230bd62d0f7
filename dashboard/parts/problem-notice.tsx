import { ApiFailure, type ProblemDetails } from '../api-failure.ts';
import { Diagnostics } from './diagnostics.tsx';
import { InsteadNotice } from './instead-notice.tsx';
import { Text } from './text.tsx';

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
    <div class="notice bad" role="alert">
      <p>
        <strong>
          {problem?.title ?? (error instanceof ApiFailure ? error.message : 'Something went wrong')}
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
      {problem?.mistakes && <Mistakes mistakes={problem.mistakes} />}
      {problem?.diagnostics && <Diagnostics diagnostics={problem.diagnostics} />}
      {problem?.code === 'serial-moved' && (
        <p>Someone else made a change in the meantime. Reload the page and make your change again.</p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function Mistakes({ mistakes }: { readonly mistakes: NonNullable<ProblemDetails['mistakes']> }) {
  return (
    <ul>
      {mistakes.map(({ pointer, message, hint }) => (
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
