import { ProblemNotice } from './problem-notice.tsx';

interface Properties {
  readonly error: unknown;
  readonly reload: () => void;
  readonly what: string;
}

/** Stands in for content that is still loading, or that failed to load. */
export function Waiting({ error, reload, what }: Properties) {
  if (error !== undefined) return <ProblemNotice error={error} retry={reload} />;
  return (
    <p class="waiting" role="status">
      Loading {what}…
    </p>
  );
}
