import type { AppliedAutomation, AppliedWebhook } from '../../schema/applied-state.ts';
import {
  compileHeaderFilter,
  compilePayloadFilter,
  type ValueTest,
} from '../../schema/filters/payload-filter-match.ts';
import type { ProviderAttempt } from '../../senders/provider-client.ts';
import { findScheme } from '../../signatures/schemes.ts';

/** @limit Automations that a missed event names as those that it could match: a list has thousands of events. */
const matchesMax = 20;

export type ListedEvent = Pick<ProviderAttempt, 'event' | 'action' | 'payload' | 'canRedeliver'>;

/** Finds the enabled automations that an event could match, some of them if there are many. */
export type MatchEvent = (event: ListedEvent) => readonly string[];

interface Matcher {
  readonly automation: string;
  readonly couldMatch: (event: ListedEvent) => boolean;
}

/**
 * Compiles what the triggers of a webhook say of an event as its provider lists it. Headers other than the event header are
 * never listed, so any value is possible. Without a payload, only the filter on `action` can be judged.
 */
export function compileMatches(
  { uid, signatureScheme }: Pick<AppliedWebhook, 'uid' | 'signatureScheme'>,
  automations: readonly Pick<AppliedAutomation, 'name' | 'enabled' | 'triggers'>[],
): MatchEvent {
  const eventHeader = findScheme(signatureScheme)?.eventHeaders?.[0]?.toLowerCase();
  const matchers = automations
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, triggers }) =>
      triggers
        .filter(({ filter }) => filter.webhook_ids.includes(uid))
        .map(({ filter }) => ({ automation: name, couldMatch: compileTrigger(filter, eventHeader) })),
    );
  return event => findMatches(matchers, event);
}

function findMatches(matchers: readonly Matcher[], event: ListedEvent): readonly string[] {
  const found = new Set<string>();
  for (const { automation, couldMatch } of matchers) {
    if (found.size === matchesMax) break;
    if (!found.has(automation) && couldMatch(event)) found.add(automation);
  }
  return [...found];
}

function compileTrigger(
  { payload, headers = {} }: AppliedAutomation['triggers'][number]['filter'],
  eventHeader: string | undefined,
): (event: ListedEvent) => boolean {
  const condition = Object.entries(headers).find(([name]) => name.toLowerCase() === eventHeader);
  const isEvent: ValueTest = condition ? compileHeaderFilter({ event: condition[1] }) : () => true;
  const isWhole = compilePayloadFilter(payload);
  const action = payload !== undefined && Object.hasOwn(payload, 'action') ? payload.action : undefined;
  const isAction = compilePayloadFilter(action === undefined ? undefined : { action });
  return ({ event, action, payload, canRedeliver }) => {
    if (!isEvent({ event })) return false;
    if (payload !== undefined) return isWhole(payload);
    // GitLab lists nothing of a payload that it no longer has.
    return !canRedeliver || isAction(action === null ? {} : { action });
  };
}
