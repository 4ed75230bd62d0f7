import { shortenRevision } from '../../../schema/clients/describe.ts';
import type { ShownStatus } from '../../api-types.ts';
import { Diagnostics } from '../../parts/problem-notice.tsx';
import { Code, ExactTime, Fact, Facts, Text, Time } from '../../parts/text.tsx';

type ReconcileStatus = NonNullable<ShownStatus['reconcile']>;
type Failure = NonNullable<ReconcileStatus['lastFailure']>;

export function ReconcileSection({ reconcile }: { readonly reconcile: ReconcileStatus }) {
  const { tip, commitsBehind, lastSuccess, lastFailure, failingSince, suspendedAt } = reconcile;
  return (
    <section class="card padded">
      <h2>Reconcile</h2>
      {suspendedAt && (
        <p class="notice warn">
          Suspended since <Time at={suspendedAt} />. Changes on the branch are not applied.
        </p>
      )}
      <Facts>
        {tip && <CommitFact term="Tip of the branch" commit={tip} />}
        {commitsBehind !== null && <Fact term="Commits behind">{commitsBehind}</Fact>}
        {lastSuccess && (
          <Fact term="Last success">
            <ExactTime at={lastSuccess.at} />
          </Fact>
        )}
      </Facts>
      {lastFailure &&
        (failingSince ? (
          <CurrentFailure failure={lastFailure} since={failingSince} />
        ) : (
          <PastFailure failure={lastFailure} />
        ))}
    </section>
  );
}

function CurrentFailure({ failure, since }: { readonly failure: Failure; readonly since: string }) {
  return (
    <>
      <div class="notice bad">
        <p>
          <strong>
            Failing since <Time at={since} />.
          </strong>{' '}
          The last good state is still applied.
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
        <Facts>
          <CommitFact term="Failed at" commit={failure.tip} />
        </Facts>
      )}
      <Diagnostics diagnostics={failure.diagnostics} />
    </>
  );
}

function PastFailure({ failure }: { readonly failure: Failure }) {
  return (
    <details>
      <summary>
        Last failure, <Time at={failure.at} />
      </summary>
      <p>
        <Text text={failure.message} />
      </p>
      <Diagnostics diagnostics={failure.diagnostics} />
    </details>
  );
}

interface CommitProperties {
  readonly term: string;
  readonly commit: NonNullable<ReconcileStatus['tip']>;
}

function CommitFact({ term, commit }: CommitProperties) {
  return (
    <Fact term={term}>
      <Code text={shortenRevision(commit.revision)} /> <Text text={commit.subject} />
      <span class="t3">
        {' '}
        · <Text text={commit.author} />
      </span>
    </Fact>
  );
}
