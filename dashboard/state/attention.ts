import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type AttentionKind, attentionKinds } from '../../schema/alerts.ts';
import type { OpenAlert, OpenAlerts, ShownStatus } from '../api-answers.ts';
import { callApi } from '../api-client.ts';
import { currentLocation } from './current-location.ts';
import { usePolled } from './loading.ts';
import { toHref } from './page-location.ts';
import { nowMs } from './time.ts';

/** Something that needs attention. */
export interface AttentionItem {
  readonly key: string;
  readonly type: AttentionKind;
  /** null: it concerns the daemon. */
  readonly factory: string | null;
  readonly since: string | null;
  readonly reason: string;
  /** null if only the status of the factory says it. */
  readonly alert: OpenAlert | null;
}

/** The open alerts of all factories; undefined until they are read. */
export const knownAlerts = signal<OpenAlerts | undefined>(undefined);

const alertsEveryMs = 20_000;
/** How many alerts were replaced by what they had become. */
let replaced = 0;

/** Keeps `knownAlerts` current. Only the shell does, so that one request serves all pages. */
export function useOpenAlerts(): void {
  const { value } = usePolled(readAlerts, [], alertsEveryMs);
  useEffect(() => {
    if (value) knownAlerts.value = value;
  }, [value]);
}

/** Reads them again if one was replaced meanwhile: the answer may be older than that. */
async function readAlerts(signal: AbortSignal): Promise<OpenAlerts> {
  const before = replaced;
  const answer = await callApi('get', '/alerts', { signal });
  return before === replaced ? answer : readAlerts(signal);
}

/** The status of the factory whose page is shown. */
export const factoryStatus = signal<ShownStatus | undefined>(undefined);

/** What needs attention, the worst first: of the factory of the page, or of all on a page that has none. */
export const attention = computed(() => {
  const location = currentLocation.value;
  const factory = 'factory' in location ? location.factory : undefined;
  const status = factoryStatus.value?.factory === factory ? factoryStatus.value : undefined;
  return knownAlerts.value ? listAttention(knownAlerts.value, factory, status) : [];
});

/** The number of things that need attention: at *Overview*, and in the title of the window. */
export const attentionCount = computed(() => attention.value.filter(({ alert }) => !isSeen(alert)).length);

/** Whether somebody has muted an alert, and that has not ended. */
export function isMuted({ muted }: Pick<OpenAlert, 'muted'>): boolean {
  return muted !== null && Date.parse(muted.at) > nowMs.value;
}

/** Whether somebody has acknowledged or muted an alert: it is listed, and needs no attention. */
export function isSeen(alert: Pick<OpenAlert, 'acknowledged' | 'muted'> | null): boolean {
  return alert !== null && (alert.acknowledged !== null || isMuted(alert));
}

/** Puts what an alert has become in place of what was read. */
export function replaceKnownAlert(changed: OpenAlert): void {
  replaced++;
  const known = knownAlerts.value;
  if (!known) return;
  knownAlerts.value = {
    ...known,
    alerts: known.alerts.map(each => (each.id === changed.id ? changed : each)),
  };
}

/** Where the subject of an item is shown; undefined if it concerns the daemon. */
export function hrefOfItem({
  type,
  factory,
  alert,
}: Pick<AttentionItem, 'type' | 'factory' | 'alert'>): string | undefined {
  if (factory === null) return undefined;
  if (alert?.webhook) return toHref({ page: 'webhook', factory, id: alert.webhook.uid });
  if (alert?.run) return toHref({ page: 'run', factory, id: alert.run });
  if (alert?.automation) return toHref({ page: 'automation', factory, id: alert.automation });
  return type === 'log.unwritable' ? undefined : toHref({ page: 'settings', factory, id: 'branch' });
}

/** Joins what alerts and the status of a factory say, the worst first. */
function listAttention(
  { alerts, logTrouble }: OpenAlerts,
  factory: string | undefined,
  status: ShownStatus | undefined,
): AttentionItem[] {
  const own = alerts.filter(alert => factory === undefined || alert.factory === factory).map(toItem);
  const isTold = own.some(({ type }) => type === 'reconcile.failing');
  const found = [
    ...own,
    ...(logTrouble === null ? [] : [item('log.unwritable', null, null, logTrouble)]),
    ...(status ? listOwnTrouble(status).filter(({ type }) => !isTold || type !== 'reconcile.failing') : []),
  ];
  return found.sort(
    (a, b) =>
      attentionKinds.indexOf(a.type) - attentionKinds.indexOf(b.type) ||
      (a.since ?? '').localeCompare(b.since ?? ''),
  );
}

function toItem(alert: OpenAlert): AttentionItem {
  const { id: key, type, factory, since, reason } = alert;
  return { key, type, factory, since, reason, alert };
}

/** What the status of a factory shows before an alert does, or instead of one. */
function listOwnTrouble({ factory, attention }: ShownStatus): AttentionItem[] {
  return attention.flatMap(({ id, type, since, reason }) =>
    id === null ? [item(type, factory, since, reason)] : [],
  );
}

function item(
  type: AttentionKind,
  factory: string | null,
  since: string | null,
  reason: string,
): AttentionItem {
  return { key: `${type} ${factory}`, type, factory, since, reason, alert: null };
}
