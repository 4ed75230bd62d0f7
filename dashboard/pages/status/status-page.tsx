import { callApi } from '../../api-client.ts';
import type { ListedSecret, ShownStatus } from '../../api-types.ts';
import { Empty, ListTable, Waiting } from '../../parts/lists.tsx';
import { Pill } from '../../parts/pills.tsx';
import { Code, ExactTime, Fact, Facts, Text, Time } from '../../parts/text.tsx';
import { useLoad } from '../../state/loading.ts';
import { formatCount } from '../../text/format-values.ts';
import { ReconcileSection } from './reconcile-section.tsx';

/** The applied state, its source, and anything that keeps a newer state from being applied. */
export function StatusPage({ status }: { readonly status: ShownStatus }) {
  const { factory } = status;
  const secrets = useLoad(
    signal => callApi('get', '/factories/{factory}/secrets', { factory, signal }),
    [factory],
  );
  return (
    <>
      <HealthPill status={status} />
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

const valueTexts = { set: 'Set', reference: 'Set', declared: 'No value yet', missing: 'Missing' } as const;

/** The names of the team secrets; the API never returns their values. */
function SecretTable({ secrets }: { readonly secrets: readonly ListedSecret[] }) {
  if (secrets.length === 0) return <Empty title="No team secrets" />;
  return (
    <div class="card">
      <ListTable columns={['Team secret', 'Value', 'Used by', 'Changed']}>
        {secrets.map(secret => (
          <tr key={secret.name}>
            <th scope="row">
              <Code text={secret.name} />
            </th>
            <td>
              {secret.from ? (
                <Code text={secret.from} />
              ) : (
                <Pill tone={valueTexts[secret.state] === 'Set' ? 'good' : 'warn'}>
                  {valueTexts[secret.state]}
                </Pill>
              )}
            </td>
            <td>
              {secret.usedBy.join(', ')}
              {secret.usedElsewhere && <span class="t3"> other factories</span>}
              {secret.usedBy.length === 0 && !secret.usedElsewhere && <span class="t3">not used</span>}
            </td>
            <td>{secret.updatedAt && <Time at={secret.updatedAt} />}</td>
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

function AppliedSection({ status }: { readonly status: ShownStatus }) {
  const { source } = status;
  return (
    <section class="card padded">
      <h2>Applied</h2>
      <Facts>
        <Fact term="Managed by">{getManagedLabel(status)}</Fact>
        <Fact term="Serial">{status.serial}</Fact>
        {status.appliedAt && (
          <Fact term="Applied at">
            <ExactTime at={status.appliedAt} />
          </Fact>
        )}
        {status.revision !== null && (
          <Fact term="Revision">
            <Code text={status.revision} />
          </Fact>
        )}
        {source?.kind === 'directory' && (
          <Fact term="Directory">
            <Code text={source.directory} />
          </Fact>
        )}
        {source?.kind === 'repository' && (
          <>
            <Fact term="Repository">
              <Code text={source.repository} />
            </Fact>
            <Fact term="Branch">
              <Code text={source.branch} />
            </Fact>
            {source.path !== '' && (
              <Fact term="Path">
                <Code text={source.path} />
              </Fact>
            )}
          </>
        )}
        <Fact term="Contents">
          {formatCount(status.webhooks, 'webhook')}, {formatCount(status.automations, 'automation')}
        </Fact>
        {status.replicas && (
          <Fact term="Served by">{formatCount(status.replicas.alive.length, 'replica')}</Fact>
        )}
      </Facts>
      {status.edited && (
        <p class="notice warn">
          Someone edited the applied state by hand. The next apply overwrites the edit.
        </p>
      )}
    </section>
  );
}

function getManagedLabel({ managedBy }: ShownStatus): string {
  if (managedBy === 'files') return 'definition files and hookmill apply';
  return managedBy === 'repository' ? 'the production branch of a repository' : 'this dashboard';
}
