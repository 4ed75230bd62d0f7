import type { z } from 'zod';
import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { parseSnapshot } from '../../schema/automations-snapshot.ts';
import { judgeAutomation, listListeners } from '../../schema/definitions/judge-trigger.ts';
import type { Outcome } from '../../schema/delivery.ts';
import { findEventType } from '../../schema/find-event-type.ts';
import type { Permission } from '../../schema/grant.ts';
import type { Title } from '../../schema/summaries/summarize-delivery.ts';
import type { deliveryAnswer, deliveryDetailAnswer } from '../../schema/views/deliveries.ts';
import type { pauseAnswer, runAnswer } from '../../schema/views/runs.ts';
import type { filterTestAnswer, testedOnStoredAnswer, verdictAnswer } from '../../schema/views/verdicts.ts';
import { splitReason } from '../../signatures/explanation.ts';
import type {
  Afterwards,
  DeliverySummary,
  LoggedDelivery,
  PastAttempt,
  Pause,
  Run,
  RunCancel,
  RunDelivery,
  RunReport,
} from '../../store/ports/delivery-log.ts';
import type { RunArtifact } from '../../store/ports/run-files.ts';

export type DeliveryView = z.output<typeof deliveryAnswer>;
export type DeliveryDetail = z.output<typeof deliveryDetailAnswer>;
export type RunView = z.output<typeof runAnswer>;
export type PauseView = z.output<typeof pauseAnswer>;
export type VerdictView = z.output<typeof verdictAnswer>;
export type FilterTestView = z.output<typeof filterTestAnswer>;
export type TestedOnStored = z.output<typeof testedOnStoredAnswer>;
export type Evaluation = NonNullable<DeliveryDetail['evaluation']>;

/** @limit Bytes of a payload of which a list shows the beginning: a line of a wide screen. */
const previewBytesMax = 240;

/**
 * Whether the reason of an outcome may be shown. What is wrong with a credential may depend on the secret: together
 * with requests of their own, readers could learn something about it.
 */
export function maySeeReason(outcome: Outcome, permission: Permission): boolean {
  return permission === 'manage' || outcome !== 'Rejected (auth)';
}

/** Converts a delivery for display, with the reason for its rejection if it may be shown. */
export function deliveryView(delivery: LoggedDelivery, permission: Permission): DeliveryView {
  const { id, webhook, uid, atMs, size, outcome, identity, identitySource } = delivery;
  const { authenticatedBy, verifiedWith, reason, duplicateOf, headers, form } = delivery;
  const eventType = headers && findEventType(headers);
  return {
    id,
    webhook,
    uid,
    at: formatTime(atMs),
    size,
    outcome,
    identity: identity ?? null,
    ...(identitySource && { identitySource }),
    ...(authenticatedBy !== undefined && { authenticatedBy }),
    ...(verifiedWith !== undefined && { verifiedWith }),
    ...(reason !== undefined && maySeeReason(outcome, permission) && reasonView(reason)),
    ...(duplicateOf !== undefined && { duplicateOf }),
    ...(headers && { headers }),
    ...(eventType !== undefined && { eventType }),
    ...(form && { form }),
    commit: delivery.commit ?? null,
  };
}

function reasonView(logged: string): Pick<DeliveryView, 'reason' | 'remedy'> {
  const { cause: reason, remedy } = splitReason(logged);
  return { reason, ...(remedy !== undefined && { remedy }) };
}

/** The beginning of a delivery's payload, on one line; null if none is kept. */
export function previewOf({ beginning }: DeliverySummary): string | null {
  if (!beginning) return null;
  const shown = beginning.subarray(0, previewBytesMax);
  // A character of which the end is missing is left out.
  const text = new TextDecoder().decode(shown, { stream: shown.length === previewBytesMax });
  return text.replaceAll(/\s+/g, ' ').trim();
}

export interface LoggedParts {
  readonly title: Title;
  readonly delivery: LoggedDelivery;
  readonly payload: Uint8Array | undefined;
  /** The automations that were applied when it arrived, as JSON. */
  readonly snapshot: string | undefined;
  readonly runs: readonly RunView[];
}

/** Everything about a delivery, with each automation's verdict. */
export function deliveryDetail(parts: LoggedParts, permission: Permission): DeliveryDetail {
  const { title, delivery, payload, snapshot, runs } = parts;
  const body = payload === undefined ? null : Buffer.from(payload).toString('utf8');
  const judged = body !== null && snapshot !== undefined;
  return {
    ...deliveryView(delivery, permission),
    ...title,
    payload: body,
    evaluation: judged ? evaluateAutomations(parseSnapshot(snapshot), delivery, parseJsonText(body)) : null,
    runs: [...runs],
  };
}

/** Judges a stored delivery by each automation, exactly as on arrival. */
export function evaluateAutomations(
  { serial, automations }: Pick<AppliedState, 'serial' | 'automations'>,
  { uid, headers }: Pick<LoggedDelivery, 'uid' | 'headers'>,
  payload: unknown,
): Evaluation {
  const considered = listListeners(automations, uid);
  const delivery = { webhookUid: uid, payload, headers };
  const verdicts = considered.map(automation => judgeAutomation(automation, delivery));
  return {
    serial,
    automations: verdicts.map(verdictView),
    others: automations.length - considered.length,
  };
}

/** The same verdict with mutable lists, as the API's type requires. */
export function verdictView(verdict: ReturnType<typeof judgeAutomation>): VerdictView {
  const triggers = verdict.triggers.map(({ headers, ...trigger }) => ({
    ...trigger,
    clauses: [...trigger.clauses],
    ...(headers && { headers: { ...headers, clauses: [...headers.clauses] } }),
  }));
  return { ...verdict, triggers };
}

export function runView(run: Run): RunView {
  const { id, automation, runner, deliveryId, webhook, state, attempts, replay, error } = run;
  const { waitsFor, stopped, dismissed, holds, deliveryCount } = run;
  return {
    id,
    automation,
    runner,
    deliveryId,
    webhook,
    state,
    attempts,
    replay,
    ...(run.manual && { manual: true as const }),
    createdAt: formatTime(run.createdAtMs),
    startedAt: run.startedAtMs === undefined ? null : formatTime(run.startedAtMs),
    finishedAt: run.finishedAtMs === undefined ? null : formatTime(run.finishedAtMs),
    nextAttemptAt: state === 'queued' ? formatTime(run.notBeforeMs) : null,
    ...(run.waitsUntilMs !== undefined && { waitsUntil: formatTime(run.waitsUntilMs) }),
    ...(run.report && { report: reportView(run.report) }),
    ...(error !== undefined && { error }),
    ...(run.cancel && { cancel: cancelView(run.cancel) }),
    ...(run.afterwards && { afterwards: afterwardsView(run, run.afterwards) }),
    ...(run.againOf !== undefined && { againOf: run.againOf }),
    ...(waitsFor && { waitsFor }),
    ...(stopped && { stopped }),
    ...(dismissed && { dismissed }),
    ...(holds && { holds }),
    ...(run.heldBy !== undefined && { heldBy: run.heldBy }),
    ...(deliveryCount !== undefined && { deliveryCount }),
  };
}

function cancelView({ atMs, ...said }: RunCancel): NonNullable<RunView['cancel']> {
  return { at: formatTime(atMs), ...said };
}

function afterwardsView(
  { waitsFor, notBeforeMs }: Run,
  { sinceMs, approval }: Afterwards,
): NonNullable<RunView['afterwards']> {
  return {
    since: formatTime(sinceMs),
    ...(waitsFor === 'approval' && { until: formatTime(notBeforeMs) }),
    ...(approval && { approval: { at: formatTime(approval.atMs), by: approval.by } }),
  };
}

/** Converts a pause for display. */
export function pauseView({ automation, by, atMs, untilMs }: Pause): PauseView {
  return { automation, at: formatTime(atMs), by, until: untilMs === undefined ? null : formatTime(untilMs) };
}

function reportView({ atMs, count: _, ...said }: RunReport): NonNullable<RunView['report']> {
  return { at: formatTime(atMs), ...said };
}

interface RunParts {
  readonly gathered: readonly RunDelivery[];
  readonly artifacts: readonly RunArtifact[];
  readonly prompt: string | undefined;
  readonly limits: Pick<RunView, 'attemptsMax' | 'timeLimitSeconds' | 'lane'> | undefined;
}

/**
 * Everything about a run: all its deliveries if it gathers several, its attempts and limits, the files that it left, and
 * its prompt.
 */
export function runDetail(run: Run, { gathered, artifacts, prompt, limits }: RunParts): RunView {
  const deliveries = gathered.map(({ id, atMs, size }) => ({ id, at: formatTime(atMs), size }));
  return {
    ...runView(run),
    ...(run.deliveryCount !== undefined && { deliveries }),
    ...limits,
    ...(run.history && { history: historyView(run, run.history) }),
    ...(artifacts.length > 0 && { artifacts: [...artifacts] }),
    ...(prompt !== undefined && { prompt }),
  };
}

/** Only the last attempt of a running run is being made. Any other one without an end was lost with its daemon. */
function historyView({ state }: Run, history: readonly PastAttempt[]): NonNullable<RunView['history']> {
  return history.flatMap(({ attempt, startedAtMs, endedAtMs, error }, index) => {
    if (endedAtMs === undefined && !(state === 'running' && index === history.length - 1)) return [];
    const endedAt = endedAtMs === undefined ? null : formatTime(endedAtMs);
    return { attempt, startedAt: formatTime(startedAtMs), endedAt, ...(error !== undefined && { error }) };
  });
}

function formatTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
