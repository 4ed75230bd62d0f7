import type {
  AutomationImpact,
  Impact,
  Traffic,
  WebhookEffect,
  WebhookImpact,
} from '../../operations/impact.ts';

/** What a change means for senders and runs, in sentences without their full stops. */
export function impactSentences(impact: Impact, nowMs: number): readonly string[] {
  return impact.kind === 'webhook' ? webhookSentences(impact, nowMs) : automationSentences(impact);
}

const effectTexts: Readonly<Record<WebhookEffect, string>> = {
  'url-gone': 'its URL stops answering and never comes back',
  disabled: 'its URL answers 404 until it is enabled again',
  enabled: 'its URL answers again',
  'url-changed': 'its URL changes: the sender needs the new one',
  'credential-changed': 'the old credential stops working at once: the sender needs the new one',
  'identity-changed': 'retries under way may be accepted a second time',
};

function webhookSentences({ effects, traffic, silenced }: WebhookImpact, nowMs: number): readonly string[] {
  const lost = silenced.length > 0 ? [`no longer starts ${silenced.join(', ')}`] : [];
  return [...effects.map(effect => effectTexts[effect]), trafficText(traffic, nowMs), ...lost];
}

function trafficText({ lastAcceptedAt, accepted, days }: Traffic, nowMs: number): string {
  if (lastAcceptedAt === null) return 'no accepted delivery in the log';
  return `last delivery ${age(nowMs - Date.parse(lastAcceptedAt))} ago, ${accepted} in ${days} days`;
}

function automationSentences(impact: AutomationImpact): readonly string[] {
  const { judged, startedBefore, startedAfter, changed, examples } = impact;
  if (judged === 0) return ['no stored delivery to judge it by'];
  const runs = startedAfter === 1 ? '1 run' : `${startedAfter} runs`;
  const main = `would have started ${runs} instead of ${startedBefore} of the last ${judged} deliveries`;
  if (changed === 0) return [main];
  const named = examples.map(
    ({ deliveryId, starts }) => `${deliveryId} (${starts ? 'starts' : 'no longer starts'})`,
  );
  const more = changed > examples.length ? ` and ${changed - examples.length} more` : '';
  return [main, `judged anew: ${named.join(', ')}${more}`];
}

const units = [
  ['day', 24 * 60 * 60],
  ['hour', 60 * 60],
  ['minute', 60],
  ['second', 1],
] as const;

/** In the largest unit that it fills. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
