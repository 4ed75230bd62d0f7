import type { z } from 'zod';
import { type Outcome, outcomes } from '../../schema/delivery.ts';
import type { Permission } from '../../schema/grant.ts';
import { type WhyStep, whyStepNames } from '../../schema/health.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import type { whyAnswer } from '../../schema/views/health.ts';
import type { Remediable } from '../attention/remedies.ts';
import type { OpenFactory } from '../factory.ts';
import { unloggedView } from '../log/list-rows.ts';
import { whySteps } from './judge-steps.ts';
import { readFacts } from './read-facts.ts';
import { formatTime, type Judgement, unknown, type WhyFacts } from './why-facts.ts';

export type WhyView = z.output<typeof whyAnswer>;

export interface WhyOptions {
  readonly baseUrl: string;
  readonly permission: Permission;
  /** The problem that keeps the daemon from its work. */
  readonly daemonProblem: Remediable | null;
}

/**
 * Explains why a webhook's last request, or a delivery, started runs or did not, or what happened to one run: each step
 * from the sender to the runs, and the first one that is wrong. Fails with `webhook-unknown`, `delivery-unknown` or
 * `run-unknown`.
 */
export async function explainWhy(
  factory: OpenFactory,
  subject: string,
  { baseUrl, ...given }: WhyOptions,
): Promise<WhyView> {
  const facts = await readFacts(factory, subject, { ...given, showUrl: of => renderIngressUrl(baseUrl, of) });
  const { webhook, last, lastHour, url } = facts;
  const judged = whyStepNames.map(step => ({ step, ...judge(step, facts) }));
  const steps = judged.map(({ lines = [], atMs, ...judgement }) => {
    return { ...judgement, at: atMs ? formatTime(atMs) : null, lines: [...lines] };
  });
  const rows = outcomes.flatMap((outcome: Outcome) => last.get(outcome) ?? []);
  return {
    subject,
    webhook: webhook ? { name: webhook.name, uid: webhook.uid, url } : null,
    cause: findCause(judged),
    attention: facts.attention.map(alert => (isExplained(alert, facts) ? { ...alert, remedy: null } : alert)),
    steps,
    last: rows.map(({ outcome, id, atMs }) => ({ outcome, id, at: formatTime(atMs) })),
    unlogged: lastHour.map(unloggedView),
  };
}

/** Whether an alert's remedy would be to run `hookmill why` for the webhook, which has just been done. */
function isExplained({ type }: WhyFacts['attention'][number], { isOfDelivery }: WhyFacts): boolean {
  return !isOfDelivery && (type === 'webhook.failing' || type === 'webhook.quiet');
}

/**
 * The newest request decides: what is wrong whatever comes is the cause, otherwise what the newest one shows that shows
 * something wrong; of several, the first in the order of a request.
 */
function findCause(judged: readonly (Judgement & { readonly step: WhyStep })[]): WhyStep | null {
  const wrong = judged.filter(({ state }) => state === 'wrong');
  const newest = wrong.toSorted((a, b) => (b.atMs ?? Infinity) - (a.atMs ?? Infinity) || 0);
  return newest[0]?.step ?? null;
}

function judge(step: WhyStep, facts: WhyFacts): Judgement {
  const { last } = facts;
  // A payload of a run that somebody started by hand has no sender, and no filter has judged it.
  if (last.has('Manual') && step !== 'daemon' && step !== 'runs')
    return unknown('somebody started the run by hand');
  const judgement = whySteps[step](facts);
  const { state, atMs = Infinity } = judgement;
  const isOver = state === 'wrong' && atMs < (last.get('Accepted')?.atMs ?? 0);
  return isOver ? { ...judgement, state: 'earlier' } : judgement;
}
