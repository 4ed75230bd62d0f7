import type { ComponentChildren } from 'preact';
import { outcomes } from '../../../schema/delivery.ts';
import type { ExplainedWhy, ShownRun, ShownStatus } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { LinkButton } from '../../parts/controls.tsx';
import { CopyButton } from '../../parts/copyable.tsx';
import { Code, Text, WithCode } from '../../parts/text.tsx';
import { type AttentionItem, factoryStatus, keyOf } from '../../state/attention.ts';
import { type Loading, useLoad } from '../../state/loading.ts';
import { type FactoryLocation, toHref } from '../../state/page-location.ts';
import { reportFailure } from '../../state/session-expiry.ts';
import { formatCount } from '../../text/format-values.ts';
import { findCommand, sayAlert, toSentence } from '../../text/sentences.ts';

interface Explanation {
  readonly title: ComponentChildren;
  readonly cause: ComponentChildren;
  /** The one button that fits. */
  readonly action: ComponentChildren;
}

const rejections = outcomes.filter(outcome => outcome.startsWith('Rejected')).join(',');

/** What the API knows of the cause of an item: the run that a person must act on, or why a webhook is failing or quiet. */
export interface Details {
  readonly run?: ShownRun;
  readonly why?: ExplainedWhy;
}

/** Says what is wrong, why, and what to do. */
export function explainItem(item: AttentionItem, details: Details | undefined): Explanation {
  const { webhook, type, reason, remedy } = item;
  const status = factoryStatus.value?.factory === item.factory ? factoryStatus.value : undefined;
  const isBranch = type === 'reconcile.failing';
  const plain = `${toSentence(reason, webhook?.name)} ${remedy ?? ''}`.trim();
  return {
    title: isBranch && status ? <BranchTitle status={status} /> : <TitleOf item={item} run={details?.run} />,
    cause: details?.run ? (
      <RunCause run={details.run} isHeld={type === 'runs.held'} />
    ) : isBranch && status?.reconcile?.lastFailure ? (
      <WithCode text={sayFailure(status.reconcile.lastFailure)} />
    ) : (
      <WithCode text={details?.why ? sayCause(details.why, plain) : plain} />
    ),
    action: <Action item={item} status={status} />,
  };
}

/** Items for which the API is asked for their cause. */
const explainedMax = 8;

/** Reads the details of the worst items, by their keys. What cannot be read is left out: the alert says enough. */
export function useDetails(items: readonly AttentionItem[]): Loading<ReadonlyMap<string, Details>> {
  const read = items.slice(0, explainedMax);
  return useLoad(
    async (signal): Promise<ReadonlyMap<string, Details>> => {
      const details = await Promise.all(
        read.map(item =>
          readDetails(item, signal).catch((error: unknown) => {
            signal.throwIfAborted();
            reportFailure(error);
          }),
        ),
      );
      return new Map(read.map((item, index) => [keyOf(item), details[index] ?? {}]));
    },
    [read.map(keyOf).join()],
  );
}

async function readDetails(item: AttentionItem, signal: AbortSignal): Promise<Details> {
  const { factory, type, run, webhook } = item;
  if (factory === null) return {};
  if (run !== null) {
    return { run: await callApi('get', '/factories/{factory}/runs/{run}', { factory, run, signal }) };
  }
  if (!webhook || (type !== 'webhook.failing' && type !== 'webhook.quiet')) return {};
  const asked = { factory, subject: webhook.uid, signal };
  return { why: await callApi('get', '/factories/{factory}/why/{subject}', asked) };
}

function TitleOf({ item, run }: { readonly item: AttentionItem; readonly run: ShownRun | undefined }) {
  const { type } = item;
  const value = run?.lane?.kind === 'order' ? run.lane.value : undefined;
  const of = type === 'runs.held' && value !== undefined && value !== null ? ` of ${value}` : '';
  return <Text text={sayAlert(item) + of} />;
}

function BranchTitle({ status: { reconcile, revision } }: { readonly status: ShownStatus }) {
  return (
    <>
      <Text text={reconcile?.followed.branch ?? ''} /> cannot be applied
      {revision !== null && (
        <>
          ; <span class="mono">{revision.slice(0, 7)}</span> is still live
        </>
      )}
    </>
  );
}

function RunCause({ run, isHeld }: { readonly run: ShownRun; readonly isHeld: boolean }) {
  const { id, attempts, error } = run;
  if (!isHeld)
    return <>Run {shortened(id)} has ended. Somebody must approve what it left before the rest is done.</>;
  return (
    <>
      Run {shortened(id)} failed after {formatCount(attempts, 'attempt')}
      {error !== undefined && (
        <>
          : <Code text={error.split('\n', 1)[0] ?? ''} />
        </>
      )}
      . The runs behind it wait until it is retried or dismissed.
    </>
  );
}

function shortened(id: string) {
  return (
    <span class="mono" title={id}>
      …{id.slice(-7)}
    </span>
  );
}

/** The first mistake in the files if there is one: its message and what to do. */
function sayFailure({
  message,
  hint,
  diagnostics,
}: NonNullable<NonNullable<ShownStatus['reconcile']>['lastFailure']>): string {
  const mistake = diagnostics.find(({ severity }) => severity === 'error');
  const said = mistake ? `\`${mistake.file}\`: ${mistake.message}` : message;
  return `${toSentence(said)} ${toSentence(mistake?.hint ?? hint ?? '')}`.replace(/ \.$/, '');
}

function sayCause({ cause, steps }: ExplainedWhy, plain: string): string {
  const step = steps.find(({ step }) => step === cause);
  if (!step) return plain;
  return `${toSentence(step.message)} ${step.remedy === null ? '' : toSentence(step.remedy)}`;
}

interface ActionProperties {
  readonly item: AttentionItem;
  readonly status: ShownStatus | undefined;
}

/** One button: what shows the cause and is not the page itself, or else the command that mends it. */
function Action({ item, status }: ActionProperties) {
  const { type, factory, remedy } = item;
  const failure = type === 'reconcile.failing' ? status?.reconcile?.lastFailure : undefined;
  const command = findCommand(failure ? sayFailure(failure) : (remedy ?? ''));
  const isCopied = type === 'reconcile.failing' || type === 'webhook.missed';
  if (isCopied && command !== undefined) return <CopyButton text={command} what="command" named />;
  if (factory === null) return null;
  const [label, to] = chooseLink(item, factory);
  if (location.hash.startsWith(toHref(to))) return null;
  return <LinkButton look="small" label={label} to={to} />;
}

function chooseLink(item: AttentionItem, factory: string): readonly [string, FactoryLocation] {
  const { type, webhook, automation, run } = item;
  if (webhook && type === 'webhook.failing') {
    const query = { webhook: webhook.uid, outcome: rejections };
    return ['See the rejected', { page: 'deliveries', factory, query }];
  }
  if (webhook) return ['Open the webhook', { page: 'webhook', factory, id: webhook.uid }];
  if (run) return ['Open the run', { page: 'run', factory, id: run }];
  if (automation && (type === 'runs.failing' || type === 'runs.stopped')) {
    const label = type === 'runs.failing' ? 'See the failed' : 'See the stopped';
    return [label, { page: 'runs', factory, query: { automation, state: 'failed' } }];
  }
  if (automation) return ['Open the automation', { page: 'automation', factory, id: automation }];
  return [type === 'drift' ? 'See the drift' : 'See the branch', { page: 'settings', factory, id: 'branch' }];
}
