import type { AppliedAutomation, AppliedWebhook } from '../../schema/applied-state.ts';
import type { Outcome } from '../../schema/delivery.ts';
import type { Permission } from '../../schema/permission.ts';
import type { LoggedDelivery, Run, UnloggedCount } from '../../store/delivery-log.ts';
import type { FilterTestView } from '../views/delivery-views.ts';

/** Everything by which a request's way to its runs is explained. */
export interface WhyFacts {
  readonly nowMs: number;
  readonly permission: Permission;
  /** What keeps the daemon from doing its work. */
  readonly daemonProblem: Remediable | null;
  /** Absent if the delivery's webhook is no longer applied. */
  readonly webhook: AppliedWebhook | undefined;
  readonly url: string;
  /** Whether one delivery is explained. It is then the only one in `last`. */
  readonly isOfDelivery: boolean;
  /** The last delivery with each outcome. */
  readonly last: ReadonlyMap<Outcome, LoggedDelivery>;
  /** Requests without a row, in the last hour and in the last day. */
  readonly lastHour: readonly UnloggedCount[];
  readonly lastDay: readonly UnloggedCount[];
  /** Requests of the last day to URLs of no webhook. */
  readonly unknownUrls: number;
  /** The automations with a trigger for the webhook. */
  readonly listening: readonly AppliedAutomation[];
  /** Since when the webhook is quiet, and what is usual; absent if it is not. */
  readonly silence?: { readonly sinceMs: number; readonly reason: string } | undefined;
  /** How some of them judge the accepted delivery, if it started nothing. */
  readonly tests: readonly FilterTestView[];
  /** The newest run of each automation that the accepted delivery started. */
  readonly runs: readonly Run[];
  /** A failed run that may hold one of them: it waits for an earlier one, and its automation holds after a failure. */
  readonly holding?: Run | undefined;
  /** The last lines of the output of the first run that has a failed attempt. */
  readonly output: readonly string[];
}

export interface Remediable {
  readonly message: string;
  readonly remedy: string;
}
