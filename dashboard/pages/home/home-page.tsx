import { useEffect } from 'preact/hooks';
import type { Account, FactoryList } from '../../api-types.ts';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { redirectTo } from '../../state/current-location.ts';
import { parseHref, toHref } from '../../state/page-location.ts';
import type { Loading } from '../../state/use-load.ts';
import { formatCount } from '../../text/format-count.ts';

/** The factory that the command line uses by default. It need not exist yet. */
const defaultFactory = 'default';

interface Properties {
  readonly account: Account;
  readonly factories: Loading<FactoryList>;
}

/** Lists the factories, or goes to the only one. */
export function HomePage({ account, factories: { value, error, reload } }: Properties) {
  const known = value?.factories;
  const only =
    account.factory ?? (known && known.length < 2 ? (known[0]?.factory ?? defaultFactory) : undefined);
  useEffect(() => {
    // The user may have gone to another page in the meantime.
    if (only !== undefined && parseHref(location.hash).page === 'home') {
      redirectTo({ page: 'automations', factory: only });
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
            <a href={toHref({ page: 'automations', factory })}>{factory}</a>
            <span class="muted">
              {formatCount(webhooks, 'webhook')} · {formatCount(automations, 'automation')}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
