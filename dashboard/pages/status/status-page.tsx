import { callApi } from '../../api-client.ts';
import type { Status } from '../../api-types.ts';
import { Diagnostics } from '../../parts/diagnostics.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Waiting } from '../../parts/problem-notice.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { ExactTime, Time } from '../../parts/time.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/use-load.ts';
import { counted } from '../../text/format-count.ts';
import { SecretTable } from './secret-table.tsx';

/** What is in force, where it comes from, and what stands in the way of something newer. */
export function StatusPage() {
  const { factory, status } = useFactory();
  const secrets = useLoad(
    signal => callApi('get', '/factories/{factory}/secrets', { factory, signal }),
    [factory],
  );
  return (
    <>
      <PageHeading title="Status">
        <Health status={status} />
      </PageHeading>
      {status.problem && (
        <div class="notice bad">
          <p>
            <strong>A newer applied state is not served.</strong> Since <Time at={status.problem.since} />:
          </p>
          <p>
            <Text text={status.problem.message} />
          </p>
        </div>
      )}
      <Applied status={status} />
      {status.reconcile && <Reconcile reconcile={status.reconcile} />}
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

function Health({ status: { problem, reconcile, edited } }: { readonly status: Status }) {
  if (problem || reconcile?.failingSince) return <Pill tone="bad">Needs attention</Pill>;
  if (reconcile?.suspendedAt) return <Pill tone="warn">Suspended</Pill>;
  return edited ? <Pill tone="warn">Edited by hand</Pill> : <Pill tone="good">In order</Pill>;
}

function Applied({ status }: { readonly status: Status }) {
  const { source } = status;
  return (
    <section class="card padded">
      <h2>In force</h2>
      <dl class="facts">
        <div>
          <dt>Managed</dt>
          <dd>{managedWords(status)}</dd>
        </div>
        <div>
          <dt>Serial</dt>
          <dd>{status.serial}</dd>
        </div>
        {status.appliedAt && (
          <div>
            <dt>Applied</dt>
            <dd>
              <ExactTime at={status.appliedAt} />
            </dd>
          </div>
        )}
        {status.revision !== null && (
          <div>
            <dt>Revision</dt>
            <dd>
              <Code text={status.revision} />
            </dd>
          </div>
        )}
        {source?.kind === 'directory' && (
          <div>
            <dt>Directory</dt>
            <dd>
              <Code text={source.directory} />
            </dd>
          </div>
        )}
        {source?.kind === 'repository' && (
          <>
            <div>
              <dt>Repository</dt>
              <dd>
                <Code text={source.repository} />
              </dd>
            </div>
            <div>
              <dt>Branch and path</dt>
              <dd>
                <Code text={source.branch} /> <Code text={source.path} />
              </dd>
            </div>
          </>
        )}
        <div>
          <dt>Has</dt>
          <dd>
            {counted(status.webhooks, 'webhook')}, {counted(status.automations, 'automation')}
          </dd>
        </div>
      </dl>
      {status.edited && (
        <p class="notice warn">
          A hand changed the applied state. The next change of the branch overwrites it.
        </p>
      )}
    </section>
  );
}

function managedWords({ managedBy }: Status): string {
  if (managedBy === 'files') return 'by definition files, with hookmill apply';
  return managedBy === 'repository' ? 'by the production branch of a repository' : 'in this dashboard';
}

type ReconcileStatus = NonNullable<Status['reconcile']>;

function Reconcile({ reconcile }: { readonly reconcile: ReconcileStatus }) {
  const { tip, commitsBehind, lastSuccess, lastFailure, failingSince, suspendedAt } = reconcile;
  return (
    <section class="card padded">
      <h2>Reconcile</h2>
      {suspendedAt && (
        <p class="notice warn">
          Suspended since <Time at={suspendedAt} />: changes of the branch wait.
        </p>
      )}
      <dl class="facts">
        {tip && <CommitFact term="Tip of the branch" commit={tip} />}
        {commitsBehind !== null && (
          <div>
            <dt>In force is behind by</dt>
            <dd>{counted(commitsBehind, 'commit')}</dd>
          </div>
        )}
        {lastSuccess && (
          <div>
            <dt>Last success</dt>
            <dd>
              <ExactTime at={lastSuccess.at} />
            </dd>
          </div>
        )}
      </dl>
      {lastFailure &&
        (failingSince ? (
          <Failure failure={lastFailure} since={failingSince} />
        ) : (
          <PastFailure failure={lastFailure} />
        ))}
    </section>
  );
}

type FailureStatus = NonNullable<ReconcileStatus['lastFailure']>;

function Failure({ failure, since }: { readonly failure: FailureStatus; readonly since: string }) {
  return (
    <>
      <div class="notice bad">
        <p>
          <strong>
            Failing since <Time at={since} />.
          </strong>{' '}
          The last good state stays in force.
        </p>
        <p>
          <Text text={failure.message} />
        </p>
        {failure.hint && (
          <p class="hint">
            <Text text={failure.hint} />
          </p>
        )}
      </div>
      {failure.tip && (
        <dl class="facts">
          <CommitFact term="Failed at" commit={failure.tip} />
        </dl>
      )}
      <Diagnostics of={failure.diagnostics} />
    </>
  );
}

function PastFailure({ failure }: { readonly failure: FailureStatus }) {
  return (
    <details>
      <summary>
        Last failure, <Time at={failure.at} />
      </summary>
      <p>
        <Text text={failure.message} />
      </p>
      <Diagnostics of={failure.diagnostics} />
    </details>
  );
}

function CommitFact({
  term,
  commit,
}: {
  readonly term: string;
  readonly commit: NonNullable<ReconcileStatus['tip']>;
}) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <Code text={commit.revision.slice(0, 12)} /> <Text text={commit.subject} />
        <span class="muted">
          {' '}
          · <Text text={commit.author} />
        </span>
      </dd>
    </div>
  );
}
