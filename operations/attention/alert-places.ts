import { hasRoom, operatorOwner, type Quota } from '../../schema/quota.ts';
import type { AlertState, Episode } from '../../store/ports/alerts.ts';

/** @limit Episodes that are open at the same time: more of a factory have a common cause, which the first ones show. */
const episodesQuota: Quota = { all: 1_000, share: 50, reserve: 50 };
/** @limit Messages of alerts that wait to be sent: two for each episode. Without room for its message, an episode does not begin to be told, nor end. */
const messagesQuota: Quota = { all: 2_000, share: 100, reserve: 100 };
/** @limit Messages about ends of runs that wait to be sent: further ends wait in the delivery log. */
const noticesQuota: Quota = { all: 500, share: 50, reserve: 0 };

/** The bounded things of alerts. */
export type AlertQuota = 'alerts' | 'messages' | 'notices';

const quotas: Readonly<Record<AlertQuota, Quota>> = {
  alerts: episodesQuota,
  messages: messagesQuota,
  notices: noticesQuota,
};

/** Says of a factory without a place what follows. */
export const fullReasons: Readonly<Record<AlertQuota, string>> = {
  alerts: 'so many alerts are open that further problems of the factory open none',
  messages:
    'so many messages about alerts wait to be sent that further ones of the factory wait until there is room',
  notices:
    'so many messages about ends of runs wait to be sent that further ends of the factory wait in the log',
};

/** Whether a factory may have one more place. Alerts about full quotas take none. */
export function hasPlace({ episodes, messages }: AlertState, name: AlertQuota, factory: string): boolean {
  const kind = name === 'notices' ? 'notice' : 'alert';
  const open = episodes.filter(({ type }) => type !== 'quota.full');
  const taken = name === 'alerts' ? open : messages.filter(message => message.kind === kind);
  return hasRoom(
    quotas[name],
    taken.map(one => one.factory),
    factory,
  );
}

/** The owner of the messages of an alert: a factory without places is told so in a place of the operator. */
export function getOwner({ type, factory }: Pick<Episode, 'type' | 'factory'>): string {
  return type === 'quota.full' ? operatorOwner : factory;
}

export function isAlertQuota(name: string): name is AlertQuota {
  return name in quotas;
}
