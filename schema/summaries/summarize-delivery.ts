import { schemes } from '../../signatures/schemes.ts';
import type { Outcome } from '../delivery.ts';
import type { EventHeaders } from '../event-headers.ts';
import { findEventType, typeKeys } from '../find-event-type.ts';
import { hideCredentials } from '../payloads/observed-paths.ts';
import { toPlainLine } from '../text/printable.ts';
import { type ProviderRule, providerRules } from './provider-rules.ts';
import { listShortScalars } from './short-scalars.ts';
import { fillTemplates, hasPath, readFirst } from './template.ts';
import { type Title, titleRefusal } from './title-refusal.ts';

/** A delivery, as far as its title depends on it. */
export interface TitledDelivery {
  readonly outcome: Outcome;
  /** The auth mode or signature scheme that authenticated it. */
  readonly authenticatedBy?: string | undefined;
  readonly headers?: EventHeaders | undefined;
  /** The cause of a rejection, if it may be shown. */
  readonly reason?: string | undefined;
  /** The payload as parsed JSON, or its beginning; undefined if it is not kept. */
  readonly payload?: unknown;
}

/** @limit Longest title of a delivery, and longest text beside it, in characters: a line of a list. */
const titleCharsMax = 120;

/**
 * Makes the title of a delivery, and the text beside it: one line each, without control characters and without what looks
 * like a credential. Of a duplicate, give the original with its outcome: a duplicate has no payload.
 */
export function summarizeDelivery(delivery: TitledDelivery): Title {
  const { outcome, reason } = delivery;
  if (outcome === 'Accepted') return summarizeEvent(delivery, 'Delivery');
  if (outcome === 'Manual') return summarizeEvent(delivery, 'Started by hand');
  return toLines(titleRefusal(outcome, reason));
}

function summarizeEvent({ authenticatedBy, headers = {}, payload }: TitledDelivery, untitled: string): Title {
  const rule = findRule(authenticatedBy, headers, payload);
  const event =
    (rule?.event === undefined ? undefined : readFirst(rule.event, payload)) ??
    findEventType(headers) ??
    readFirst(typeKeys.join('|'), payload);
  const action = readAction(rule, event, payload);
  const title = [event, action].filter(part => part !== undefined).join(' ');
  const parts = (rule?.text ?? []).flatMap(
    part => fillTemplates([part].flat(), payload, hideCredentials) ?? [],
  );
  const said = [event ?? '', ...title.split(/[ .]/)];
  const found = parts.length > 0 ? parts : listShortScalars(payload, said);
  return toLines({ title: hideCredentials(title) || untitled, text: found.join(' · ') });
}

/** Finds the rule of the provider, by the scheme, by event headers or by the shape of its payloads. */
function findRule(
  authenticatedBy: string | undefined,
  headers: EventHeaders,
  payload: unknown,
): ProviderRule | undefined {
  const ofHeaders = schemes.filter(({ eventHeaders = [] }) =>
    eventHeaders.some(name => headers[name.toLowerCase()]),
  );
  const senders = [authenticatedBy, ...ofHeaders.map(({ id }) => id)];
  return providerRules.find(
    ({ schemes, shape, has }) =>
      (has === undefined || hasPath(has, payload)) &&
      (schemes.some(scheme => senders.includes(scheme)) || shape?.every(path => hasPath(path, payload))),
  );
}

/** Reads what happened, if it is a short word that the type of the event does not say already. */
function readAction(
  rule: ProviderRule | undefined,
  event: string | undefined,
  payload: unknown,
): string | undefined {
  const action = readFirst(rule?.action ?? 'action', payload);
  if (action === undefined || !/^[a-z][a-z_-]{1,30}$/i.test(action)) return undefined;
  return event?.toLowerCase().endsWith(action.toLowerCase()) ? undefined : action;
}

function toLines({ title, text }: Title): Title {
  return { title: toLine(title), text: toLine(text ?? '') || null };
}

function toLine(text: string): string {
  const characters = [...toPlainLine(text)];
  if (characters.length <= titleCharsMax) return characters.join('');
  return `${characters
    .slice(0, titleCharsMax - 1)
    .join('')
    .trimEnd()}…`;
}
