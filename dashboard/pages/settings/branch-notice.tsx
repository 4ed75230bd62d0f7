import type { VNode } from 'preact';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import type { ShownStatus } from '../../api-answers.ts';
import { CopyableLine } from '../../parts/copyable.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Code, Text, WithCode } from '../../parts/text.tsx';
import { nowMs, timeZone } from '../../state/time.ts';
import { formatMoment } from '../../text/format-time.ts';
import { findCommand, inFactory, toSentence } from '../../text/sentences.ts';

type Reconcile = NonNullable<ShownStatus['reconcile']>;

interface StatusProperties {
  readonly status: ShownStatus;
}

interface FailureProperties extends StatusProperties {
  readonly reconcile: Reconcile;
  readonly failure: NonNullable<Reconcile['lastFailure']>;
}

/** The worst of what is wrong, if anything is. */
export function BranchNotice({ status }: StatusProperties): VNode | null {
  const { problem, reconcile, edited } = status;
  if (problem) {
    return (
      <Notice
        tone="bad"
        cause={<>The daemon cannot serve the newest applied state since {sayMoment(problem.since)}.</>}
        more="It serves the one before."
      >
        <Text text={toSentence(problem.message)} />
      </Notice>
    );
  }
  if (reconcile?.suspendedAt) {
    return (
      <Notice
        tone="warn"
        sign="held"
        cause={<>Suspended since {sayMoment(reconcile.suspendedAt)}.</>}
        more={
          <>
            Changes on <Text text={reconcile.followed.branch} /> wait.
          </>
        }
      />
    );
  }
  if (reconcile?.failingSince && reconcile.lastFailure) {
    return <FailureNotice status={status} reconcile={reconcile} failure={reconcile.lastFailure} />;
  }
  if (!edited) return null;
  return (
    <Notice
      tone="warn"
      cause="The applied state was edited by hand, or a disk damaged it."
      more="The next apply overwrites that."
    />
  );
}

function FailureNotice({
  status: { factory, revision },
  reconcile: { followed, failingSince },
  failure,
}: FailureProperties) {
  const errors = failure.diagnostics.filter(({ severity }) => severity === 'error');
  const hints = [...errors.map(({ hint }) => hint), failure.hint];
  const command = hints.map(hint => findCommand(hint ?? '')).find(found => found !== undefined);
  return (
    <Notice
      tone="bad"
      sign="branch"
      cause={
        <>
          <Text text={followed.branch} /> cannot be applied since {sayMoment(failingSince ?? '')}.
        </>
      }
      more={
        revision !== null && (
          <>
            What was applied before, <Code text={revision.slice(0, 7)} />, is still live.
          </>
        )
      }
    >
      {errors.length > 0 ? (
        <ul class="errors">
          {errors.map(error => (
            <li key={JSON.stringify(error)}>
              <Code text={sayPosition(error)} /> <WithCode text={sayAdvice(error.message, error.hint)} />
            </li>
          ))}
        </ul>
      ) : (
        <p>
          <WithCode text={sayAdvice(failure.message, failure.hint)} />
        </p>
      )}
      {command !== undefined && <CopyableLine text={inFactory(command, factory)} what="command" isCommand />}
    </Notice>
  );
}

function sayAdvice(message: string, hint: string | undefined): string {
  return hint === undefined ? toSentence(message) : `${toSentence(message)} ${toSentence(hint)}`;
}

function sayPosition({ file, range }: Diagnostic): string {
  return range ? `${file}:${range.start.line}:${range.start.column}` : file;
}

function sayMoment(at: string): string {
  return formatMoment(Date.parse(at), nowMs.value, timeZone.value);
}
