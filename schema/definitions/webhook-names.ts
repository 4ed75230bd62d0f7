// Files select a webhook by its name; everything that judges deliveries knows only its UID.
import { didYouMean } from '../text/suggestion.ts';
import type { AutomationDefinition, Trigger } from './automation-definition.ts';

type Triggering = Pick<AutomationDefinition, 'triggers'>;

/** A webhook that has a UID. */
export interface WebhookWithUid {
  readonly name: string;
  readonly uid: string;
}

/**
 * Gives each trigger that names its webhook the UID of that webhook, beside the name. A trigger whose webhook has no UID
 * yet gets none, and selects no delivery.
 */
export function pinWebhooks<A extends Triggering>(
  automation: A,
  webhooks: readonly WebhookWithUid[],
): Omit<A, 'triggers'> & { triggers: Trigger[] } {
  const uids = new Map(webhooks.map(({ name, uid }) => [name, uid]));
  const triggers = automation.triggers.map((trigger): Trigger => {
    const { filter } = trigger;
    const uid = filter.webhook === undefined ? undefined : uids.get(filter.webhook);
    return uid === undefined ? trigger : { ...trigger, filter: { ...filter, webhook_ids: [uid] } };
  });
  return { ...automation, triggers };
}

/** Returns the triggers as a definition file should have them: by the name of the webhook, if it is one of these. */
export function nameWebhooks({ triggers }: Triggering, webhooks: readonly WebhookWithUid[]): object[] {
  const names = new Map(webhooks.map(({ name, uid }) => [uid, name]));
  return triggers.map(({ filter: { webhook, webhook_ids, ...filter }, ...trigger }) => {
    const [uid] = webhook_ids;
    const name = uid === undefined ? webhook : names.get(uid);
    return {
      ...trigger,
      filter: { ...(name === undefined ? { webhook_ids } : { webhook: name }), ...filter },
    };
  });
}

interface UnknownName {
  /** The position of the trigger. */
  readonly index: number;
  readonly message: string;
  readonly hint: string;
}

/** Finds the triggers that name another webhook than these. `hintFor` says what to do with a name that none is similar to. */
export function findUnknownNames(
  { triggers }: Triggering,
  names: ReadonlySet<string>,
  hintFor: (name: string) => string,
): readonly UnknownName[] {
  return triggers.flatMap(({ filter: { webhook } }, index) => {
    if (webhook === undefined || names.has(webhook)) return [];
    const message = `there is no webhook ${webhook}`;
    return [{ index, message, hint: didYouMean(webhook, [...names]) ?? hintFor(webhook) }];
  });
}
