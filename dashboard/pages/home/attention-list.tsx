import type { HealthOverview } from '../../api-types.ts';
import { HealthPill } from '../../parts/health-pill.tsx';
import { Time } from '../../parts/time.tsx';
import { toHref } from '../../state/page-location.ts';

/** The webhooks of all factories that are failing or quiet. */
export function AttentionList({ overview: { unhealthy, hasMore } }: { readonly overview: HealthOverview }) {
  if (unhealthy.length === 0) return <p class="muted">No webhook is failing or unusually quiet.</p>;
  return (
    <section>
      <div class="section-heading">
        <h2>Needs attention</h2>
      </div>
      <ul class="card rows">
        {unhealthy.map(({ factory, name, uid, health }) => (
          <li key={uid} class="row link-row">
            <a href={toHref({ page: 'webhook', factory, id: uid })}>
              <bdi>{name}</bdi>
            </a>
            <span class="muted">
              <bdi>{factory}</bdi>
            </span>
            {health.since !== null && (
              <span class="push muted">
                since <Time at={health.since} />
              </span>
            )}
            <div class="whole">
              <HealthPill health={health} />
            </div>
          </li>
        ))}
      </ul>
      {hasMore && <p class="muted">More webhooks are failing or quiet than are listed here.</p>}
    </section>
  );
}
