import { isDeepStrictEqual } from 'node:util';
import type { AppliedState, DestroyedWebhook } from '../../schema/applied-state.ts';
import { restorableDays } from '../../schema/changes/describe-impact.ts';
import { pickAuthentication } from '../../schema/definitions/pick-authentication.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { hasSecret } from '../../schema/names.ts';
import { Refusal } from '../../schema/refusal.ts';
import { joinWithAnd } from '../../schema/text/suggestion.ts';
import { dayMs } from '../../schema/time-units.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';

/** @limit Destroyed webhooks that a factory keeps, to restore their URLs: five times as many as it may have. */
const destroyedMax = 100;

/** The destroyed webhook whose UID a new one gets, or the reason why it gets another one. */
type Former = { readonly former: DestroyedWebhook } | { readonly notRestored: string };

/** By the names of new webhooks. A webhook whose name was never destroyed has no entry. */
export type Formers = ReadonlyMap<string, Former>;

/**
 * Decides which new webhooks get the UID of a destroyed one: those with the same name and the same authentication. A token
 * in the URL must be the same too, because it may have been replaced after a leak. A value that was not read counts as the same.
 */
export function findFormers(
  state: Pick<AppliedState, 'webhooks' | 'destroyed'>,
  webhooks: readonly WebhookDefinition[],
  secrets: ReadonlyMap<string, TeamSecret>,
  nowMs: number,
): Formers {
  const applied = new Set(state.webhooks.map(({ name }) => name));
  const added = webhooks.filter(({ name }) => !applied.has(name));
  const kept = (state.destroyed ?? []).filter(one => isKept(one, nowMs));
  return new Map(
    added.flatMap(webhook => {
      const former = findFormer(webhook, kept, secrets);
      return former ? [[webhook.name, former] as const] : [];
    }),
  );
}

function findFormer(
  webhook: WebhookDefinition,
  kept: readonly DestroyedWebhook[],
  secrets: ReadonlyMap<string, TeamSecret>,
): Former | undefined {
  const namesakes = kept.filter(({ name }) => name === webhook.name);
  const [last] = namesakes;
  if (!last) return undefined;
  const former = namesakes.find(one => isDeepStrictEqual(toIdentity(one), toIdentity(webhook)));
  if (!former) return { notRestored: describeDifference(last, webhook) };
  const secret = hasSecret(webhook) ? secrets.get(webhook.secretName) : undefined;
  const isInUrl = webhook.authMode === 'url_token' && !secret?.isUnread;
  if (!isInUrl || former.secretVersion === secret?.value?.version) return { former };
  return { notRestored: `${isNew}: the token in its former URL has been replaced` };
}

const isNew = 'its URL is new';

function describeDifference(last: DestroyedWebhook, webhook: WebhookDefinition): string {
  const [before, after] = [last, webhook].map((one): Record<string, unknown> => pickAuthentication(one));
  const keys = Object.keys({ ...before, ...after }).filter(
    key => !isDeepStrictEqual(before?.[key], after?.[key]),
  );
  return `${isNew}: ${joinWithAnd(keys)} changed since it was destroyed`;
}

/**
 * Gives these webhooks a new UID instead of a former one. Fails with `request-invalid` if one of them would not get a
 * former one.
 */
export function declineFormers(formers: Formers, names: readonly string[]): Formers {
  const mistakes = names.flatMap((name, index) => {
    const message = `the webhook ${name} would not be restored by this apply, so it needs no new UID`;
    const isRestored = 'former' in (formers.get(name) ?? {});
    return isRestored ? [] : [{ pointer: `/newUids/${index}`, code: 'definition/value', message }];
  });
  if (mistakes.length > 0) throw new Refusal('request-invalid', { mistakes });
  const declined = names.map(name => [name, { notRestored: `${isNew}, as requested` }] as const);
  return new Map([...formers, ...declined]);
}

/** The webhooks that an apply restores, with their former UIDs. */
export function listRestored(formers: Formers): readonly DestroyedWebhook[] {
  return [...formers.values()].flatMap(one => ('former' in one ? one.former : []));
}

/**
 * Returns the next state with what is kept of destroyed webhooks: of these, and of earlier ones, unless they are too old
 * or a webhook has taken the place of theirs.
 */
export function keepDestroyed(
  next: AppliedState,
  destroyed: AppliedState['webhooks'],
  now: Date,
): AppliedState {
  const { destroyed: earlier = [], ...state } = next;
  const destroyedAt = now.toISOString();
  const taken = state.webhooks.map(toIdentity);
  const kept: DestroyedWebhook[] = [];
  for (const one of [...destroyed.map(webhook => toDestroyed(webhook, destroyedAt)), ...earlier]) {
    const identity = toIdentity(one);
    const isTaken = taken.some(other => isDeepStrictEqual(other, identity));
    if (isTaken || !isKept(one, now.getTime()) || kept.length === destroyedMax) continue;
    taken.push(identity);
    kept.push(one);
  }
  return kept.length === 0 ? state : { ...state, destroyed: kept };
}

function toDestroyed(webhook: AppliedState['webhooks'][number], destroyedAt: string): DestroyedWebhook {
  const { name, uid, createdAt, authMode, credential } = webhook;
  const isInUrl = authMode === 'url_token' && 'secretVersion' in credential;
  return {
    ...{ name, uid, ...(createdAt !== undefined && { createdAt }) },
    ...pickAuthentication(webhook),
    destroyedAt,
    ...(isInUrl && { secretVersion: credential.secretVersion }),
  };
}

function isKept({ destroyedAt }: DestroyedWebhook, nowMs: number): boolean {
  return nowMs < Date.parse(destroyedAt) + restorableDays * dayMs;
}

/** What must be the same in a definition that comes back. */
function toIdentity(webhook: WebhookDefinition | DestroyedWebhook) {
  return { name: webhook.name, ...pickAuthentication(webhook) };
}
