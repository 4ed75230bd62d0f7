import { describeUsage } from '../../../schema/clients/describe.ts';
import { hasEnded } from '../../../schema/delivery.ts';
import type { ShownRun } from '../../api-answers.ts';
import { buildApiUrl, callApi, download } from '../../api-client.ts';
import { Button, LinkButton, Tabs } from '../../parts/controls.tsx';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { State } from '../../parts/signs.tsx';
import { ClockTime, Code, ExactTime, Fact, Facts, Id, Link, Size, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { readQuery } from '../../state/current-location.ts';
import { useTabKeys } from '../../state/keyboard.ts';
import { areSettled, useLoad, useRunRefresh } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { nowMs } from '../../state/time.ts';
import { useAction } from '../../state/use-action.ts';
import { useApi } from '../../state/use-api.ts';
import { formatCount } from '../../text/format-values.ts';
import { lookOfRun } from '../../text/looks.ts';
import { lengthOfRun } from '../../text/run-path.ts';
import { RunActions } from './run-actions.tsx';
import { OutputPane } from './run-output.tsx';
import { DeliveryLink, type PathProperties, RunPath } from './run-path.tsx';

/** One run: what happened in order, and beside it what it wrote, was told and left. */
export function RunPage({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  const { value, error, reload, put } = useApi('/factories/{factory}/runs/{run}', { factory, run: id });
  useRunRefresh(reload, value && [value]);
  const delivery = useRunDelivery(value?.deliveryId);
  const crumb = <Breadcrumb to={{ page: 'runs', factory }} label="Runs" />;
  if (!value || !areSettled(delivery)) {
    return (
      <div class="page">
        {crumb}
        <Waiting error={error} reload={reload} what="the run" />
      </div>
    );
  }
  return (
    <div class="page">
      {crumb}
      <RunContent run={value} delivery={delivery.value} onChanged={put} />
    </div>
  );
}

/** The delivery that started a run; undefined until the run is known. */
function useRunDelivery(id: string | undefined) {
  const { factory } = useFactory();
  return useLoad(
    async signal => {
      if (id === undefined) return undefined;
      return callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal });
    },
    [factory, id],
  );
}

interface ContentProperties extends PathProperties {
  readonly onChanged: (run: ShownRun) => void;
}

const tabs = ['Output', 'Prompt', 'Event', 'Artifacts'] as const;
type Tab = (typeof tabs)[number];

function RunContent({ run, delivery, onChanged }: ContentProperties) {
  const { mayManage } = useFactory();
  const [sign] = lookOfRun(run);
  return (
    <>
      <PageHeading
        title={run.automation}
        aside={<State sign={sign}>{describeState(run)}</State>}
        sub={
          <>
            {delivery && (
              <span>
                <Text text={[delivery.title, delivery.text].filter(Boolean).join(' · ')} />
              </span>
            )}
            {run.replay && <span>a replay</span>}
            {run.manual && <span>started by hand</span>}
            <Id id={run.id} />
          </>
        }
        actions={mayManage && <RunActions run={run} onChanged={onChanged} />}
      />
      <FailureNotice run={run} />
      <div class="split run">
        <div>
          <RunPath run={run} delivery={delivery} />
          <RunFacts run={run} />
        </div>
        <div>
          <RunTabs run={run} delivery={delivery} />
        </div>
      </div>
    </>
  );
}

function RunTabs({ run, delivery }: PathProperties) {
  const { factory } = useFactory();
  const asked = readQuery().tab;
  const tab = tabs.find(each => each.toLowerCase() === asked) ?? 'Output';
  const hrefOf = (each: Tab) =>
    toHref({
      page: 'run',
      factory,
      id: run.id,
      ...(each !== 'Output' && { query: { tab: each.toLowerCase() } }),
    });
  useTabKeys(tabs, tab, next => {
    globalThis.location.hash = hrefOf(next);
  });
  return (
    <>
      <Tabs
        label="Run"
        tabs={tabs.map(each => ({
          label: each,
          href: hrefOf(each),
          current: each === tab,
          count: each === 'Artifacts' ? run.artifacts?.length : undefined,
        }))}
      />
      {tab === 'Output' && <OutputPane run={run} />}
      {tab === 'Prompt' && <Prompt run={run} />}
      {tab === 'Event' && <Event run={run} delivery={delivery} />}
      {tab === 'Artifacts' && <Artifacts run={run} />}
    </>
  );
}

function describeState(run: ShownRun): string {
  const { state, attempts, attemptsMax } = run;
  const [, word] = lookOfRun(run);
  const name = word.charAt(0).toUpperCase() + word.slice(1);
  if (run.cancel && !hasEnded(state)) return 'Is being cancelled';
  if (state === 'failed' && !run.stopped && !run.dismissed)
    return `${name} after ${formatCount(attempts, 'attempt')}`;
  if (state !== 'running' || attempts === 0) return name;
  return `${name}, attempt ${attempts}${attemptsMax === undefined ? '' : ` of ${attemptsMax}`}`;
}

/** Why it failed and what that keeps waiting, once it has failed. */
function FailureNotice({ run }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  if (run.state !== 'failed' || run.dismissed) return null;
  const [first = '', ...others] = (run.error ?? 'The run failed').split('\n');
  return (
    <Notice
      tone={run.stopped ? 'warn' : 'bad'}
      sign={run.stopped ? 'stopped' : 'failed'}
      cause={<Text text={first} />}
      more={others.length > 0 ? <Text text={others.join(' ')} /> : undefined}
      action={
        run.holds && (
          <LinkButton
            look="small"
            label="Show what waits"
            to={{ page: 'runs', factory, query: { automation: run.automation, state: 'queued' } }}
          />
        )
      }
    >
      {run.holds
        ? 'The runs behind it wait. Retry it once the cause is gone, or dismiss it to let them start.'
        : undefined}
    </Notice>
  );
}

function RunFacts({ run }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  const length = lengthOfRun(run, run.finishedAt === null ? nowMs.value : 0);
  const { report } = run;
  const used = report && describeUsage(report);
  return (
    <section class="run-facts">
      <Facts>
        {length !== undefined && <Fact term="Duration" value={length} />}
        {report?.message !== undefined && <Fact term="Reported" value={<Text text={report.message} />} />}
        {report?.link !== undefined && (
          <Fact
            term="Link"
            value={
              <a class="link" href={report.link} target="_blank" rel="noreferrer">
                <Text text={report.link} />
              </a>
            }
          />
        )}
        {used !== undefined && <Fact term="Used" value={used} />}
        <Fact
          term="Automation"
          value={
            <Link
              class="link"
              to={{ page: 'automation', factory, id: run.automation }}
              text={run.automation}
            />
          }
        />
        <Fact term="Runner" value={<Text text={run.runner} />} />
        <Fact term="Created" value={<ExactTime at={run.createdAt} />} />
        {run.waitsUntil && <Fact term="Waits until" value={<ExactTime at={run.waitsUntil} due />} />}
        {run.againOf !== undefined && (
          <Fact
            term="Again of"
            value={
              <a class="link" href={toHref({ page: 'run', factory, id: run.againOf })}>
                <Id id={run.againOf} isCopied={false} />
              </a>
            }
          />
        )}
      </Facts>
    </section>
  );
}

function Prompt({ run }: { readonly run: ShownRun }) {
  if (run.prompt === undefined) return <Empty title="The prompt is no longer stored." />;
  return <CopyableBlock text={run.prompt} what="prompt" />;
}

function Event({ run, delivery }: PathProperties) {
  const { factory } = useFactory();
  if (!delivery) return <Waiting error={undefined} reload={() => undefined} what="the event" />;
  return (
    <>
      {run.deliveries && run.deliveries.length > 1 && (
        <ol class="list">
          {run.deliveries.map(({ id, at }) => (
            <li key={id} class="flow">
              <ClockTime at={at} /> <DeliveryLink id={id} />
            </li>
          ))}
        </ol>
      )}
      {delivery.payload === null ? (
        <Empty title="The payload is no longer stored." />
      ) : (
        <CopyableBlock text={delivery.payload} what="payload" />
      )}
      <p>
        <Link class="link" to={{ page: 'delivery', factory, id: delivery.id }} text="Open the delivery" />
      </p>
    </>
  );
}

function Artifacts({ run }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  const path = '/factories/{factory}/runs/{run}/artifacts/{artifact}';
  const saving = useAction((artifact: string) =>
    download(buildApiUrl(path, { factory, run: run.id, artifact }), artifact),
  );
  if (!run.artifacts) return <Empty title="The run left no artifacts." />;
  return (
    <>
      <ProblemNotice error={saving.error} />
      <ul class="list">
        {run.artifacts.map(({ name, size }) => (
          <li key={name} class="flow artifact">
            <Code text={name} />
            <span class="t3 small">
              <Size bytes={size} />
            </span>
            <Button
              look="small push"
              icon="download"
              label="Download"
              aria-label={`Download ${name}`}
              {...saving.control}
              onClick={() => saving.run(name)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}
