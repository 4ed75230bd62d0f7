import type { AppliedAutomation, AppliedWebhook, Management } from '../../schema/applied-state.ts';
import type { Outcome } from '../../schema/delivery.ts';
import type { Permission } from '../../schema/grant.ts';
import type { Missed, SenderFinding } from '../../schema/sender.ts';
import type { RepeatedId } from '../../schema/views/health.ts';
import type { StoredIssuer } from '../../store/ports/daemon-records.ts';
import type { LoggedDelivery, Pause, Run, UnloggedCount } from '../../store/ports/delivery-log.ts';
import type { Attention } from '../attention/alerts.ts';
import type { Remediable } from '../attention/remedies.ts';
import type { Overlap } from '../health/judge-overlap.ts';
import type { FilterTestView, VerdictView } from '../views/delivery-views.ts';

/** The verdict on one step of a request's way. */
export interface Judgement {
  /** `unknown`: no request came so far. `earlier`: something was wrong, and a delivery was accepted since. */
  readonly state: 'ok' | 'wrong' | 'earlier' | 'unknown';
  /** The time of the request that shows what is wrong, in ms; absent for what is wrong whatever comes. */
  readonly atMs?: number | undefined;
  readonly message: string;
  /** The remedy; null unless the step is wrong. */
  readonly remedy: string | null;
  /** More lines, such as the end of a run's output. */
  readonly lines?: readonly string[];
}

/** Everything by which a request's way to its runs is explained. */
export interface WhyFacts {
  readonly nowMs: number;
  readonly permission: Permission;
  /** The problem that keeps the daemon from its work. */
  readonly daemonProblem: Remediable | null;
  /** Absent if the delivery's webhook is no longer applied. */
  readonly webhook: AppliedWebhook | undefined;
  readonly url: string;
  /** What is stored of the issuer of the webhook's tokens. Absent if the webhook takes none, or its issuer was never asked. */
  readonly issuer?: StoredIssuer | undefined;
  /** Problems at the provider of the webhook, the worst first; undefined if it was never asked. */
  readonly atProvider:
    | {
        readonly checkedMs: number;
        readonly findings: readonly SenderFinding[];
        /** The events that the provider could not deliver; null: its log was never read. */
        readonly missed: Missed | null;
      }
    | undefined;
  /** Whether one delivery is explained. It is then the only one in `last`. */
  readonly isOfDelivery: boolean;
  /** The last delivery with each outcome. */
  readonly last: ReadonlyMap<Outcome, LoggedDelivery>;
  /** Requests without a row, in the last hour and in the last day. */
  readonly lastHour: readonly UnloggedCount[];
  readonly lastDay: readonly UnloggedCount[];
  /** Requests of the last day to URLs of no webhook. */
  readonly unknownUrls: number;
  /** Open alerts about the webhook and the automations that are meant, the worst first. */
  readonly attention: readonly Attention[];
  /** Where the factory is managed. */
  readonly management: Management | null;
  /** Whether the webhook is disabled although its definition file says otherwise. */
  readonly isDisabledByHand: boolean;
  /** The automations with a trigger for the webhook. */
  readonly listening: readonly AppliedAutomation[];
  /** The time since which the webhook is quiet, and the reason; absent if it is not quiet. */
  readonly silence?: { readonly sinceMs: number; readonly reason: string } | undefined;
  /** A field that seems to be the ID of its events, and repeats. */
  readonly repeatedId?: RepeatedId | undefined;
  /** Which value of its secret the sender uses. Absent without an overlap. */
  readonly overlap?: Overlap | undefined;
  /** The verdicts of some of them on the accepted delivery, if it started nothing: the nearest to a match first. */
  readonly verdicts: readonly VerdictView[];
  /** Warnings about the filters of the first of these automations. */
  readonly warnings: FilterTestView['warnings'];
  /** The newest run of each automation that the accepted delivery started. */
  readonly runs: readonly Run[];
  /** How long runs of the first running one's automation usually take, in ms; absent if too few have succeeded. */
  readonly usualMs?: number | undefined;
  /** The names of the runners that daemons offer. */
  readonly offered: readonly string[];
  /** The pause of an automation of `runs`. */
  readonly pause?: Pause | undefined;
  /** The run at work for which one of `runs` waits. */
  readonly ahead?: Run | undefined;
  /** A failed run that may hold one of `runs` back, in an automation with `onFailure: hold`. */
  readonly holding?: Run | undefined;
  /** The last lines of the output of the first run that has a failed attempt. */
  readonly output: readonly string[];
}

export function ok(message: string): Judgement {
  return { state: 'ok', message, remedy: null };
}

export function unknown(message: string): Judgement {
  return { state: 'unknown', message, remedy: null };
}

export function wrong(
  message: string,
  remedy: string,
  more: Pick<Judgement, 'atMs' | 'lines'> = {},
): Judgement {
  return { state: 'wrong', message, remedy, ...more };
}

export function formatTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
