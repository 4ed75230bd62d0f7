import type { ComponentChildren } from 'preact';
import { ApiFailure } from '../api-answers.ts';
import { NotFound } from './not-found.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface EmptyProperties {
  readonly title: string;
  readonly children?: ComponentChildren;
}

interface WaitingProperties {
  readonly error: unknown;
  readonly reload: () => void;
  readonly what: string;
}

/** Stands in for content that is still loading, after a moment in the shape of rows; or for what failed to load. */
export function Waiting({ error, reload, what }: WaitingProperties) {
  if (error instanceof ApiFailure && error.problem?.status === 404) return <NotFound />;
  if (error !== undefined) return <ProblemNotice error={error} retry={reload} />;
  return (
    <div class="waiting" role="status">
      <span class="unseen">Loading {what}…</span>
      {[62, 48, 70].map(width => (
        <div key={width} class="flow skel-row" aria-hidden="true">
          <span class="skel skel-sign" />
          <span class="skel skel-name" />
          <span class="skel" style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  );
}

/** Stands in for a list without rows: what is missing, in a sentence, and what would fill it. */
export function Empty({ title, children }: EmptyProperties) {
  return (
    <div class="blank">
      <b>{title}</b>
      {children}
    </div>
  );
}
