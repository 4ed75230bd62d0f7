import type { AppliedState } from '../../schema/applied-state.ts';
import type { SenderState } from '../../schema/sender.ts';
import type { WatchedWebhook } from '../../store/ports/alerts.ts';
import type { Store } from '../../store/ports/store.ts';
import { describeMissed } from '../checks/judge-sender.ts';
import type { Finding } from './follow-episodes.ts';

/** @limit Time for which events must be missed for an alert, in ms: a slow provider or a restart is no reason to wake somebody. */
const missedMs = 10 * 60_000;

export interface MissedSought {
  readonly factories: readonly string[];
  readonly watched: readonly WatchedWebhook[];
  readonly nowMs: number;
}

/**
 * Finds the webhooks that miss events of their providers, for some minutes, and for which the daemon does not ask. Those in
 * `watched` are reported as well, without a problem if they no longer have a sender.
 */
export async function findMissed(
  { senderStates }: Pick<Store, 'senderStates'>,
  readState: (factory: string) => Promise<AppliedState>,
  { factories, watched, nowMs }: MissedSought,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const factory of new Set([...factories, ...watched.map(webhook => webhook.factory)])) {
    // While the state cannot be read, nothing is known.
    const applied = await readState(factory).catch(() => undefined);
    if (!applied) continue;
    const states = await senderStates.read(factory);
    const sent = applied.webhooks.filter(({ enabled, sender }) => enabled && sender);
    const found = sent.map(({ uid, name }) => {
      const state = states.find(state => state.uid === uid);
      return toFinding({ factory, uid, name }, findProblem(name, state, nowMs));
    });
    const gone = watched.filter(
      webhook => webhook.factory === factory && !sent.some(({ uid }) => uid === webhook.uid),
    );
    findings.push(...found, ...gone.map(webhook => toFinding(webhook, null)));
  }
  return findings;
}

function findProblem(name: string, state: SenderState | undefined, nowMs: number): Finding['problem'] {
  const missed = state?.missed;
  if (!missed || (missed.events <= missed.recovering && missed.lost.length === 0)) return null;
  const sinceMs = Date.parse(missed.first ?? missed.at);
  const isLong = missed.lost.length > 0 || nowMs - sinceMs >= missedMs;
  return isLong ? { reason: `${name}: ${describeMissed(missed)}`, sinceMs } : null;
}

function toFinding({ factory, uid, name }: WatchedWebhook, problem: Finding['problem']): Finding {
  return { type: 'webhook.missed', factory, subject: uid, name, problem };
}
