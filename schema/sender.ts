import { z } from 'zod';
import { isAhead, notAhead } from './stored-times.ts';

/** Shows the URL of a hook without user, password and query, which may be somebody's credentials. */
export function showHookUrl(url: string): string {
  const shown = url.replace(/^([^/\\?#]*[/\\]*)[^/\\?#]*@/, '$1…@').replace(/[?#].+$/s, '?…');
  return shown.replace(/[?#]$/, '');
}

/** A webhook as its provider has it: GitHub and GitLab call it a hook. */
export const providerHookShape = z.strictObject({
  id: z.string(),
  url: z.string().describe('Without user, password and query: `…` stands for these.'),
  events: z.array(z.string()).describe("The events that it sends, by the provider's names; `*`: all."),
  isActive: z.boolean().describe('Whether the provider sends to it now.'),
  disabledUntil: z
    .string()
    .nullable()
    .describe('When the provider tries again, if it has disabled the hook for a time by itself.'),
  contentType: z.enum(['json', 'form']),
  verifiesTls: z.boolean(),
  hasSecret: z.boolean().nullable().describe('Whether a secret is set; null: the provider does not say.'),
  lastAnswer: z
    .strictObject({ status: z.int().nullable(), message: z.string() })
    .nullable()
    .describe('The last answer that the provider got from it; null: none, or the provider does not say.'),
});

export type ProviderHook = Readonly<z.output<typeof providerHookShape>>;

/** @limit Most requests to send an event again that are kept of one webhook: as many as one recovery makes in a day, and as many by hand. */
export const askedKept = 2_000;

/** An event that the provider was asked to send again. */
export const askedEventShape = z.object({
  eventId: z.string(),
  at: z.string(),
  /** How often the provider was asked for it. */
  times: z.int(),
  /** Whether the daemon asked, because of `recover: true`; otherwise, a person did. */
  byDaemon: z.boolean(),
  /** What it is and when it was first tried, as the provider says, if it had not arrived at the last comparison. */
  open: z.strictObject({ event: z.string(), firstAt: z.string() }).optional(),
  /** When a comparison found that the provider has forgotten it. */
  lostAt: z.string().optional(),
});

export type AskedEvent = Readonly<z.output<typeof askedEventShape>>;

/** Why a provider could not be asked. `remedy`: what to do, if the message does not say it. */
export const senderProblemShape = z.strictObject({
  code: z.string(),
  message: z.string(),
  remedy: z.string().nullable().default(null),
});

export type SenderProblem = Readonly<z.output<typeof senderProblemShape>>;

/** The last answers of a webhook's provider, and the requests to send events again. It has facts and no verdicts, because definitions change. */
export const senderStateShape = z.strictObject({
  uid: z.string(),
  /** The hooks of the webhook when its provider was last asked; null: never. */
  checked: z
    .strictObject({
      at: z.string(),
      hooks: z.array(providerHookShape),
      /** Why the provider could not be asked; the hooks are then those of the time before. */
      problem: senderProblemShape.nullable(),
    })
    .nullable(),
  /** The result of the last comparison of the provider's log with ours; null: they were never compared. */
  missed: z
    .strictObject({
      at: z.string(),
      /** The beginning of what was read of the log. */
      since: z.string(),
      /** The beginning of what the next comparison reads, by the clock of the provider: nothing before it is missed. */
      nextSince: z.string(),
      /** Events that an applied automation could match, and that have not arrived. */
      events: z.int(),
      /** Of these events, those that the provider was asked for a minute ago or earlier. */
      inVain: z.int().default(0),
      /** The attempts of the provider to deliver these. */
      attempts: z.int(),
      /** The first and the last attempt of these; null: nothing is missed. */
      first: z.string().nullable(),
      last: z.string().nullable(),
      /** Of these events, those that the daemon is about to ask for, for the first time. */
      recovering: z.int(),
      /** Events that were asked for, and did not arrive until the provider forgot them, in the last day before. */
      lost: z.array(z.strictObject({ event: z.string(), events: z.int() })).default([]),
      /** Why the daemon could not ask for events when it last tried; null: it could, or did not try. */
      problem: z.string().nullable(),
    })
    .nullable(),
  /** The events that were asked for again, oldest first. */
  asked: z.array(askedEventShape),
  /** The registration of its hook that is in progress: which one, since when, and who began it. One whose process died expires. */
  registering: z
    .strictObject({ id: z.string().default(''), at: z.string(), by: z.string() })
    .nullable()
    .default(null),
});

export type Missed = Readonly<NonNullable<z.output<typeof senderStateShape>['missed']>>;

export type SenderState = z.output<typeof senderStateShape>;

/** Finds the state of a webhook; an empty one if nothing was learned or asked yet. */
export function findSenderState(states: readonly SenderState[], uid: string): SenderState {
  const found = states.find(state => state.uid === uid);
  return found ?? { uid, checked: null, missed: null, asked: [], registering: null };
}

/** Lets what is stored ahead of now count as now. Returns the same object if nothing is. */
export function settleSenderTimes(state: SenderState, nowMs: number): SenderState {
  const { missed, asked, registering } = state;
  const settle = <T extends { readonly at: string }>(one: T): T => ({ ...one, at: notAhead(one.at, nowMs) });
  const times = [missed, registering, ...asked].flatMap(one => one?.at ?? []);
  if (!times.some(at => isAhead(at, nowMs))) return state;
  return {
    ...state,
    missed: missed && settle(missed),
    asked: asked.map(settle),
    registering: registering && settle(registering),
  };
}

/** The codes of the problems that a hook or its provider can have. */
const senderFindingCodes = [
  ...(['never-checked', 'provider-failed', 'hook-missing', 'hook-twice', 'url-differs'] as const),
  ...(['inactive', 'disabled', 'content-type', 'tls-off', 'secret-missing', 'secret-wrong'] as const),
  ...(['events-missing', 'events-unneeded', 'last-answer', 'missed'] as const),
] as const;

export const senderFindingShape = z.strictObject({
  code: z.enum(senderFindingCodes),
  severity: z
    .enum(['error', 'warning', 'note'])
    .describe(
      'error: deliveries do not arrive, or are not accepted; note: nothing is wrong with the webhook.',
    ),
  message: z.string(),
  remedy: z.string(),
});

export type SenderFinding = Readonly<z.output<typeof senderFindingShape>>;
