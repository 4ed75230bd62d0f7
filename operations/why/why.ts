import type { z } from 'zod';
import type { whyAnswer } from '../../schema/api/answers.ts';
import { type Outcome, outcomes } from '../../schema/delivery.ts';
import type { Permission } from '../../schema/grant.ts';
import { type WhyStep, whyStepNames } from '../../schema/health.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import type { OpenFactory } from '../factory.ts';
import { unloggedView } from '../log/list-rows.ts';
import { whySteps } from './judge-steps.ts';
import { readFacts } from './read-facts.ts';
import { formatTime, type Judgement, type Remediable, unknown, type WhyFacts } from './why-facts.ts';

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
  const steps = whyStepNames.map(step => {
    const { lines = [], ...judgement } = judge(step, facts);
    return { step, ...judgement, lines: [...lines] };
  });
  const rows = outcomes.flatMap((outcome: Outcome) => last.get(outcome) ?? []);
  return {
    subject,
    webhook: webhook ? { name: webhook.name, uid: webhook.uid, url } : null,
    cause: steps.find(({ state }) => state === 'wrong')?.step ?? null,
    steps,
    last: rows.map(({ outcome, id, atMs }) => ({ outcome, id, at: formatTime(atMs) })),
    unlogged: lastHour.map(unloggedView),
  };
}

/** A payload of a run that somebody started by hand has no sender, and no filter has judged it. */
function judge(step: WhyStep, facts: WhyFacts): Judgement {
  const applies = !facts.last.has('Manual') || step === 'daemon' || step === 'runs';
  return applies ? whySteps[step](facts) : unknown('somebody started the run by hand');
}
