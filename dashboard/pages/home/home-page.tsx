import { useEffect } from 'preact/hooks';
import type { Factories, Identity } from '../../api-types.ts';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Waiting } from '../../parts/problem-notice.tsx';
import { goInstead } from '../../state/current-location.ts';
import { hrefOf, placeOf } from '../../state/page-location.ts';
import type { Loading } from '../../state/use-load.ts';
import { counted } from '../../text/format-count.ts';

/** A factory that nobody has made yet: the one that `hookmill` works on unless told otherwise. */
const defaultFactory = 'default';

interface Properties {
  readonly identity: Identity;
  readonly factories: Loading<Factories>;
}

/** Chooses a factory where there is a choice, and goes to the only one where there is none. */
export function HomePage({ identity, factories: { value, error, reload } }: Properties) {
  const known = value?.factories;
  const only =
    identity.factory ?? (known && known.length < 2 ? (known[0]?.factory ?? defaultFactory) : undefined);
  useEffect(() => {
    // Somebody may have gone elsewhere meanwhile.
    if (only !== undefined && placeOf(location.hash).page === 'home') {
      goInstead({ page: 'automations', factory: only });
    }
  }, [only]);
  if (only !== undefined) return null;
  if (!known) return <Waiting error={error} reload={reload} what="the factories" />;
  return (
    <>
      <PageHeading title="Factories" />
      <ul class="card rows">
        {known.map(({ factory, webhooks, automations }) => (
          <li key={factory} class="row link-row">
            <a href={hrefOf({ page: 'automations', factory })}>{factory}</a>
            <span class="muted">
              {counted(webhooks, 'webhook')} · {counted(automations, 'automation')}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
