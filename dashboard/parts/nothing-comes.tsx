import type { ComponentChildren } from 'preact';
import type { ListedScheme, ListedWebhook } from '../api-types.ts';
import { WithCode } from './text.tsx';

interface Properties {
  readonly webhook: ListedWebhook;
  readonly scheme: ListedScheme | null;
  /** What can be done about it. */
  readonly children?: ComponentChildren;
}

/** What to look at while no delivery comes: whether the sender reaches the host, and what its provider says of retries and of its own log. */
export function NothingComes({ webhook: { name, url }, scheme, children }: Properties) {
  const at = new URL(url);
  const said = scheme?.summary.find(({ label }) => label === 'Retries')?.text;
  // What is known names its source at the end, and an example of a webhook.
  const [, retries] = /^(.+) \(https:.*\)$/.exec(said ?? '') ?? [];
  return (
    <section class="stack" aria-labelledby="nothing-comes">
      <h2 id="nothing-comes">Nothing comes?</h2>
      <p class="t2">
        The host must be reachable from the sender:{' '}
        <code class="nowrap">
          {at.hostname}:{at.port || (at.protocol === 'https:' ? 443 : 80)}
        </code>
        .
      </p>
      {retries !== undefined && (
        <p class="t2">
          Retries: <WithCode text={retries.replace(/(?<=`hookmill senders missed )\w+/, () => name)} />.
        </p>
      )}
      {children}
    </section>
  );
}
