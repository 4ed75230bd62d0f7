import { callApi } from '../../api-client.ts';
import type { ShownStatus } from '../../api-types.ts';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Text } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { toHref } from '../../state/page-location.ts';
import { useLoad } from '../../state/use-load.ts';
import { AppliedSection } from './applied-section.tsx';
import { ReconcileSection } from './reconcile-section.tsx';
import { SecretTable } from './secret-table.tsx';

/** The applied state, its source, and anything that keeps a newer state from being applied. */
export function StatusPage({ status }: { readonly status: ShownStatus }) {
  const { factory } = status;
  const secrets = useLoad(
    signal => callApi('get', '/factories/{factory}/secrets', { factory, signal }),
    [factory],
  );
  return (
    <>
      <PageHeading title="Status">
        <HealthPill status={status} />
        {status.permission === 'manage' && <a href={toHref({ page: 'audit', factory })}>Audit log</a>}
      </PageHeading>
      {status.problem && (
        <div class="notice bad">
          <p>
            <strong>
              The daemon cannot serve the newest applied state since <Time at={status.problem.since} />:
            </strong>
          </p>
          <p>
            <Text text={status.problem.message} />
          </p>
        </div>
      )}
      <AppliedSection status={status} />
      {status.reconcile && <ReconcileSection reconcile={status.reconcile} />}
      <section aria-labelledby="secrets">
        <div class="section-heading">
          <h2 id="secrets">Team secrets</h2>
        </div>
        {secrets.value ? (
          <SecretTable secrets={secrets.value.secrets} />
        ) : (
          <Waiting error={secrets.error} reload={secrets.reload} what="team secrets" />
        )}
      </section>
    </>
  );
}

function HealthPill({ status: { problem, reconcile, edited } }: { readonly status: ShownStatus }) {
  if (problem || reconcile?.failingSince) return <Pill tone="bad">Needs attention</Pill>;
  if (reconcile?.suspendedAt) return <Pill tone="warn">Suspended</Pill>;
  if (edited) return <Pill tone="warn">Edited by hand</Pill>;
  if (reconcile?.commitsBehind) return <Pill tone="warn">Behind the branch</Pill>;
  return <Pill tone="good">Up to date</Pill>;
}
