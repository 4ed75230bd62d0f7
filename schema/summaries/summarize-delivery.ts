import { schemes } from '../../signatures/schemes.ts';
import type { Outcome } from '../delivery.ts';
import { findEventType, typeKeys } from '../find-event-type.ts';
import type { EventHeaders } from '../headers.ts';
import { hideCredentials, isShowableName, isShowableValue } from '../text/credentials.ts';
import { toPlainLine } from '../text/printable.ts';
import { type ProviderRule, providerRules } from './provider-rules.ts';
import { fillTemplates, hasPath, readFirst } from './template.ts';

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

/** What is shown of a delivery in one line, beside its webhook and its time. */
export interface Title {
  /** The event, such as `pull_request opened`; of a rejected request the reason. */
  readonly title: string;
  /** What the event is about, such as `acme/shop#482 · Charge VAT by country`; null if nothing is known. */
  readonly text: string | null;
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

/**
 * Titles a request of which only the outcome is kept, and the cause if it may be shown. A cause is a short clause, and often
 * more after a colon or a semicolon, as `describeFailure` writes them.
 */
export function titleRefusal(outcome: Outcome, cause: string | undefined): Title {
  switch (outcome) {
    case 'Rejected (auth)':
      return cause === undefined ? { title: 'Credential refused', text: null } : titleCause(cause);
    case 'Rejected (invalid JSON)':
      return { title: 'Invalid JSON', text: cause?.replace(/^the body is not JSON: /, '') ?? null };
    case 'Rejected (too large)':
      return { title: 'Too large', text: null };
    default:
      return { title: outcome, text: cause ?? null };
  }
}

function titleCause(cause: string): Title {
  const [, seconds = '', direction] = /^the timestamp is (\d+) s (old|in the future)/.exec(cause) ?? [];
  if (direction === 'old') return { title: 'Signature too old', text: `${roundTime(Number(seconds))} old` };
  if (direction) return { title: 'Signature from the future', text: `${roundTime(Number(seconds))} ahead` };
  const [, clause = '', more] = /^(?:the )?(.+?)(?:[:;] (.+))?$/s.exec(cause) ?? [];
  return { title: clause.charAt(0).toUpperCase() + clause.slice(1), text: more ?? null };
}

/** Rounds a time to its largest unit. */
function roundTime(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3_600) return `${Math.round(seconds / 60)} min`;
  return seconds < 2 * 86_400 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** @limit Scalars of a payload that a list shows of a sender without a rule of its own. */
const scalarsShownMax = 3;
/** @limit Most values of a payload among which they are sought, those outside first: some µs. */
const valuesMax = 300;

/**
 * Lists the first short texts and numbers of a payload that may be shown, but those given, and those outside first. URLs are left out, and also
 * IDs, hashes and times if there is anything else.
 */
function listShortScalars(payload: unknown, but: readonly string[]): readonly string[] {
  const clear = new Set<string>();
  const others = new Set<string>();
  const containers = typeof payload === 'object' ? [payload] : [];
  let left = valuesMax;
  for (let at = 0; at < containers.length && clear.size < scalarsShownMax && left > 0; at++) {
    for (const [key, value] of Object.entries(containers[at] ?? {})) {
      if (left-- <= 0) break;
      if (!isShowableName(key)) continue;
      if (typeof value === 'object') containers.push(value);
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      const text = String(value).trim();
      if (text === '' || but.includes(text) || !isShowableValue(text) || /^\w+:\/\//.test(text)) continue;
      (isIdentity(value, text) ? others : clear).add(text);
    }
  }
  return [...(clear.size > 0 ? clear : others)].slice(0, scalarsShownMax);
}

/** Whether a value tells people little: a UUID, a long ID or number, a hash, or a time. */
function isIdentity(value: string | number, text: string): boolean {
  if (typeof value === 'number') return text.length > 8;
  if (/^\d{4}-\d\d-\d\d(?:$|[T ])/.test(text) || /^[\da-f]{8}-[\da-f]{4}-/i.test(text)) return true;
  return !text.includes(' ') && text.length > 8 && /\d{6,}|^[a-z]+_\w*\d/i.test(text);
}
