import type { AttentionKind } from '../../schema/alerts.ts';
import type { Outcome, RunState } from '../../schema/delivery.ts';
import type { HealthState } from '../../schema/health.ts';

/** The name of a sign. Each has a shape of its own, so that nobody needs colour to tell states apart. */
export type SignName =
  | ('accepted' | 'rejected' | 'duplicate' | 'done' | 'fails' | 'waiting' | 'queued' | 'running' | 'held')
  | ('stopped' | 'failed' | 'dismissed' | 'quiet' | 'disabled' | 'warning' | 'branch' | 'well' | 'turn');

export function signOfOutcome(outcome: Outcome): SignName {
  if (outcome === 'Duplicate') return 'duplicate';
  return outcome.startsWith('Rejected') ? 'rejected' : 'accepted';
}

interface SignedRun {
  readonly state: RunState;
  readonly stopped?: boolean | undefined;
  readonly dismissed?: boolean | undefined;
  readonly waitsFor?: string | undefined;
}

/** The sign of a run, and the word for its state. */
export function lookOfRun({ state, stopped, dismissed, waitsFor }: SignedRun): readonly [SignName, string] {
  if (dismissed) return ['dismissed', 'dismissed'];
  if (stopped) return ['stopped', 'stopped'];
  switch (state) {
    case 'queued':
      if (waitsFor === 'approval') return ['turn', 'waits for approval'];
      if (waitsFor === 'order') return ['held', 'held'];
      return waitsFor === undefined
        ? ['queued', 'queued']
        : ['queued', waitsFor === 'paused' ? 'paused' : 'waiting'];
    case 'succeeded':
      return ['done', 'succeeded'];
    case 'cancelled':
      return ['dismissed', 'cancelled'];
    default:
      return [state, state];
  }
}

/** The sign of a webhook's health, and its word. `null`: the webhook is disabled. */
export function lookOfHealth(state: HealthState | null): readonly [SignName, string] {
  switch (state) {
    case null:
      return ['disabled', 'Disabled'];
    case 'healthy':
      return ['done', 'Healthy'];
    case 'failing':
      return ['failed', 'Failing'];
    case 'quiet':
      return ['quiet', 'Quiet'];
    case 'never seen':
      return ['waiting', 'Waiting for the first delivery'];
  }
}

/** The sign of what needs attention, and its word. */
export const lookOfAttention: Readonly<Record<AttentionKind, readonly [SignName, string]>> = {
  'log.unwritable': ['failed', 'Not recording'],
  'state.unserved': ['failed', 'Not served'],
  'webhook.failing': ['failed', 'Failing'],
  'runs.held': ['held', 'Held'],
  'reconcile.failing': ['branch', 'Branch'],
  'runs.failing': ['failed', 'Failing'],
  'runs.stopped': ['stopped', 'Stopped'],
  'runs.unapproved': ['turn', 'Your turn'],
  'webhook.missed': ['warning', 'Missed'],
  'webhook.repeats': ['duplicate', 'Repeats'],
  'webhook.previous-secret': ['warning', 'Previous secret'],
  'webhook.quiet': ['quiet', 'Quiet'],
  'quota.full': ['warning', 'Full'],
  'automation.paused': ['held', 'Paused'],
  drift: ['warning', 'Drift'],
};
