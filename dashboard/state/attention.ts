import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OpenAlerts, ShownAttention, ShownStatus } from '../api-answers.ts';
import { callApi } from '../api-client.ts';
import { currentLocation } from './current-location.ts';
import { usePolled } from './loading.ts';
import { toHref } from './page-location.ts';
import { nowMs } from './time.ts';

/** Something that needs attention. */
export interface AttentionItem extends ShownAttention {
  /** null: it concerns the daemon. */
  readonly factory: string | null;
}

/** The open alerts of all factories; undefined until they are read. */
export const knownAlerts = signal<OpenAlerts | undefined>(undefined);

const alertsEveryMs = 20_000;

/** Keeps `knownAlerts` current. Only the shell does, so that one request serves all pages. */
export function useOpenAlerts(): void {
  const { value } = usePolled(signal => callApi('get', '/alerts', { signal }), [], alertsEveryMs);
  useEffect(() => {
    if (value) knownAlerts.value = value;
  }, [value]);
}

/** The status of the factory whose page is shown. */
export const factoryStatus = signal<ShownStatus | undefined>(undefined);

/** What needs attention, the worst first: of the factory of the page, or of all on a page that has none. */
export const attention = computed((): readonly AttentionItem[] => {
  const location = currentLocation.value;
  const { alerts = [], logTrouble = null } = knownAlerts.value ?? {};
  const daemon = logTrouble === null ? [] : [toLogTrouble(logTrouble)];
  if (!('factory' in location)) return [...daemon, ...alerts];
  const { factory } = location;
  const found = factoryStatus.value?.factory === factory ? factoryStatus.value.attention : [];
  return [...daemon, ...found.map(each => ({ ...each, factory }))];
});

function toLogTrouble(reason: string): AttentionItem {
  const subject = { factory: null, webhook: null, automation: null, run: null };
  const unsaid = { id: null, since: null, remedy: null, acknowledged: null, muted: null };
  return { type: 'log.unwritable', reason, ...subject, ...unsaid };
}

/** The number of things that need attention: at *Overview*, and in the title of the window. */
export const attentionCount = computed(() => attention.value.filter(item => !isSeen(item)).length);

/** Tells an item from others. */
export function keyOf({ id, type, factory }: AttentionItem): string {
  return id ?? `${type} ${factory}`;
}

/** Whether somebody has muted an alert, and that has not ended. */
export function isMuted({ muted }: Pick<ShownAttention, 'muted'>): boolean {
  return muted !== null && Date.parse(muted.at) > nowMs.value;
}

/** Whether somebody has acknowledged or muted an alert: it is listed, and needs no attention. */
export function isSeen(alert: Pick<ShownAttention, 'acknowledged' | 'muted'>): boolean {
  return alert.acknowledged !== null || isMuted(alert);
}

/** Where the subject of an item is shown; undefined if it concerns the daemon. */
export function hrefOfItem({ type, factory, webhook, automation, run }: AttentionItem): string | undefined {
  if (factory === null) return undefined;
  if (webhook) return toHref({ page: 'webhook', factory, id: webhook.uid });
  if (run) return toHref({ page: 'run', factory, id: run });
  if (automation) return toHref({ page: 'automation', factory, id: automation });
  return type === 'log.unwritable' ? undefined : toHref({ page: 'settings', factory, id: 'branch' });
}
