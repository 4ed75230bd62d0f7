import { useState } from 'preact/hooks';
import type { ShownStatus } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { CopyableLine } from '../../parts/copyable.tsx';
import { Question } from '../../parts/dialog.tsx';
import { EnabledDiff } from '../../parts/diff-block.tsx';
import { Path, type PathStep } from '../../parts/path.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sec } from '../../parts/tables.tsx';
import { Code, Fact, Facts, Link, Moment, Text } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { nowMs, useInterval } from '../../state/time.ts';
import { useAction } from '../../state/use-action.ts';
import { formatCount } from '../../text/format-values.ts';
import { inFactory } from '../../text/sentences.ts';
import { BranchNotice } from './branch-notice.tsx';

type Reconcile = NonNullable<ShownStatus['reconcile']>;
type RecentCommit = Reconcile['recent'][number];
type Change = ShownStatus['changedByHand'][number];

interface StatusProperties {
  readonly status: ShownStatus;
}

interface ReconcileProperties extends StatusProperties {
  readonly reconcile: Reconcile;
}

/** Time between two looks at the status after somebody asked for a look at the branch, and for how long, in ms. */
const askedEveryMs = 2_000;
const askedForMs = 60_000;

/** The branch that the factory follows, what keeps its newest commit from being applied, and what is applied. */
export function BranchSection({ status }: StatusProperties) {
  const { reconcile, source } = status;
  const { mayManage } = useFactory();
  return (
    <>
      <Sec title="Branch">{reconcile && mayManage && <BranchActions reconcile={reconcile} />}</Sec>
      <BranchNotice status={status} />
      {reconcile ? <Followed status={status} reconcile={reconcile} /> : <NotFollowed status={status} />}
      <section>
        <Sec title="Applied state" />
        <Facts>
          <Fact term="Serial" value={status.serial} />
          <Fact
            term="Contents"
            value={`${formatCount(status.webhooks, 'webhook')}, ${formatCount(status.automations, 'automation')}`}
          />
          {status.appliedAt && <Fact term="Applied" value={<Moment at={status.appliedAt} />} />}
          {status.revision !== null && <Fact term="Commit" value={<Code text={status.revision} />} />}
          {source?.kind === 'directory' && <Fact term="Directory" value={<Code text={source.directory} />} />}
          <Drift status={status} />
        </Facts>
      </section>
    </>
  );
}

/** Suspends and resumes what the daemon does with the branch, and asks it for a look. */
function BranchActions({
  reconcile: { suspendedAt, askedAt, followed },
}: Pick<ReconcileProperties, 'reconcile'>) {
  const { factory, reload } = useFactory();
  const [asks, setAsks] = useState(false);
  const isAsked = askedAt !== null && nowMs.value - Date.parse(askedAt) < askedForMs;
  useInterval(reload, isAsked ? askedEveryMs : undefined);
  const trying = useAction(async () => {
    await callApi('post', '/factories/{factory}/reconcile', { factory, body: {} });
    announce(`Asked for a look at ${followed.branch}`);
    reload();
  });
  const resuming = useAction(async () => {
    await callApi('post', '/factories/{factory}/reconcile/resume', { factory, body: {} });
    announce(`Resumed: ${followed.branch} is followed again`);
    reload();
  });
  return (
    <div class="push">
      <ProblemNotice error={trying.error ?? resuming.error} />
      {suspendedAt ? (
        <Button
          look="small primary"
          label={resuming.busy ? 'Resuming…' : 'Resume'}
          {...resuming.control}
          onClick={() => resuming.run()}
        />
      ) : (
        <>
          <Button look="small" label="Suspend…" onClick={() => setAsks(true)} />
          <Button
            look="small"
            label={trying.busy || isAsked ? 'Trying…' : 'Try now'}
            {...trying.control}
            {...(isAsked && { 'aria-disabled': true })}
            onClick={() => isAsked || trying.run()}
          />
        </>
      )}
      {asks && <SuspendQuestion branch={followed.branch} onClose={() => setAsks(false)} />}
    </div>
  );
}

function SuspendQuestion({ branch, onClose }: { readonly branch: string; readonly onClose: () => void }) {
  const { factory, reload } = useFactory();
  return (
    <Question
      title={`Suspend ${branch}?`}
      keep="Keep following it"
      act={`Suspend ${branch}`}
      acting="Suspending…"
      onAct={async () => {
        await callApi('post', '/factories/{factory}/reconcile/suspend', { factory, body: {} });
        announce(`Suspended: changes on ${branch} wait`);
        reload();
      }}
      onClose={onClose}
    >
      <p>
        Changes on the branch wait until somebody resumes it. What is applied stays, and webhooks go on
        accepting deliveries.
      </p>
    </Question>
  );
}

function Followed({ status, reconcile }: ReconcileProperties) {
  const { followed, commitsBehind, lastSuccess, askedAt } = reconcile;
  const { revision } = status;
  return (
    <>
      <section>
        <Path label="Commits, newest first" steps={listCommits(reconcile, revision)} />
      </section>
      <section>
        <Sec title="Followed" />
        <Facts>
          <Fact term="Repository" value={<Code text={followed.repository} />} />
          <Fact term="Branch" value={<Code text={followed.branch} />} />
          {followed.path !== '' && <Fact term="Path" value={<Code text={followed.path} />} />}
          {commitsBehind !== null && <Fact term="Behind" value={formatCount(commitsBehind, 'commit')} />}
          {lastSuccess && <Fact term="Last success" value={<Moment at={lastSuccess.at} />} />}
          {askedAt && (
            <Fact
              term="Asked for"
              value={
                <>
                  <Moment at={askedAt} />, no daemon has looked yet
                </>
              }
            />
          )}
        </Facts>
      </section>
    </>
  );
}

function listCommits({ recent, tip }: Reconcile, revision: string | null): PathStep[] {
  const steps = recent.map(commit => toStep(commit, commit.commit.revision === tip?.revision, revision));
  if (!tip || recent.some(({ commit }) => commit.revision === tip.revision)) return steps;
  const waiting = {
    ...{ key: tip.revision, sign: 'waiting' as const, title: <CommitTitle commit={tip} isNamed /> },
    more: sayFacts([tip.author, 'tip of the branch', 'not applied yet']),
  };
  return [{ ...waiting, stage: 'now' }, ...steps];
}

function toStep(
  { commit, at, result, summary, errors }: RecentCommit,
  isTip: boolean,
  live: string | null,
): PathStep {
  const isLive = commit.revision === live;
  const isRefused = result === 'refused';
  const counts = summary && `${summary.add} added, ${summary.change} changed, ${summary.destroy} destroyed`;
  return {
    key: `${commit.revision} ${at}`,
    sign: isRefused ? 'failed' : isLive ? 'well' : 'done',
    title: <CommitTitle commit={commit} isNamed={isTip || isLive} />,
    at: <Moment at={at} />,
    more: (
      <>
        {sayFacts([commit.author, isTip && 'tip of the branch', isLive && 'live', counts])}
        {isRefused && (
          <>
            {' · '}
            <span class="bad">refused{errors > 0 && `: ${formatCount(errors, 'error')}`}</span>
          </>
        )}
      </>
    ),
  };
}

function sayFacts(facts: readonly (string | false | null)[]) {
  return <Text text={facts.filter(Boolean).join(' · ')} />;
}

interface TitleProperties {
  readonly commit: RecentCommit['commit'];
  readonly isNamed: boolean;
}

function CommitTitle({ commit: { revision, subject }, isNamed }: TitleProperties) {
  return (
    <>
      <span class="mono small" title={revision}>
        {revision.slice(0, 7)}
      </span>{' '}
      {isNamed ? (
        <b>
          <Text text={subject} />
        </b>
      ) : (
        <Text text={subject} />
      )}
    </>
  );
}

/** What differs from the definition files: who did it, and when. */
function Drift({ status: { factory, changedByHand, edited } }: StatusProperties) {
  if (changedByHand.length === 0)
    return edited ? <Fact term="Drift" value="edited by hand, or damaged" /> : null;
  return (
    <Fact
      term="Drift"
      value={
        <>
          <ul>
            {changedByHand.map(change => (
              <DriftItem key={change.webhook.uid} change={change} factory={factory} />
            ))}
          </ul>
          <p class="hint">The next apply undoes that. To keep it, say the same in the file.</p>
        </>
      }
    />
  );
}

function DriftItem({ change, factory }: { readonly change: Change; readonly factory: string }) {
  const { webhook, enabled, enabledInFile, who, at } = change;
  return (
    <li>
      <Link class="name" to={{ page: 'webhook', factory, id: webhook.uid }} text={webhook.name} /> is{' '}
      {sayEnabled(enabled)} here, {sayEnabled(enabledInFile)} in its file{' '}
      <span class="t3">
        · {who && <Text text={`${who.name}, `} />}
        <Moment at={at} />
      </span>
      <EnabledDiff enabled={enabled} />
    </li>
  );
}

function sayEnabled(enabled: boolean): string {
  return enabled ? 'enabled' : 'disabled';
}

/** A factory without a branch: how it is managed, and how to change that. */
function NotFollowed({ status: { managedBy, factory } }: StatusProperties) {
  const isFiles = managedBy === 'files';
  return (
    <div class="stack commands">
      <p>
        {isFiles
          ? 'This factory follows no branch. It is managed by definition files, which somebody applies with a command.'
          : 'This factory follows no branch. Its webhooks and automations are managed in this dashboard.'}
      </p>
      {!isFiles && (
        <>
          <p class="hint">To manage it by files, write what is applied to files, then let them take over:</p>
          <CopyableLine text={inFactory('hookmill export .', factory)} what="command" isCommand />
          <CopyableLine text={inFactory('hookmill apply --adopt', factory)} what="command" isCommand />
        </>
      )}
      {isFiles && (
        <>
          <p class="hint">To apply each change that is merged, let the daemon follow a branch:</p>
          <CopyableLine
            text={inFactory('hookmill serve --repository URL --branch main', factory)}
            what="command"
            isCommand
          />
        </>
      )}
    </div>
  );
}
