import { useEffect, useState } from 'preact/hooks';
import type { ExplainedWhy } from '../api-answers.ts';
import { buildApiUrl } from '../api-client.ts';
import { useFactory } from './current-factory.ts';
import type { Loading } from './loading.ts';
import { useApi } from './use-api.ts';
import { watchEvents } from './watch-events.ts';

const everyMs = 10_000;

/** Whether no request has ever come to the webhook, as far as anybody knows. */
export function hasNoRequest({ last, unlogged }: ExplainedWhy): boolean {
  return last.length === 0 && unlogged.length === 0;
}

/** Whether the sender of a delivery did everything right. */
export function isAccepted({ outcome }: Pick<ExplainedWhy['last'][number], 'outcome'>): boolean {
  return outcome === 'Accepted' || outcome === 'Duplicate';
}

/**
 * How far the last request to a webhook came. While none has come, it watches for the first one, so that the page turns
 * by itself; then calls `onFirst`.
 */
export function useWhy(uid: string, onFirst?: () => void): Loading<ExplainedWhy> {
  const { factory } = useFactory();
  const why = useApi('/factories/{factory}/why/{subject}', { factory, subject: uid }, everyMs);
  const isWaiting = why.value !== undefined && hasNoRequest(why.value);
  useEffect(() => {
    if (!isWaiting) return;
    const look = () => {
      why.reload();
      onFirst?.();
    };
    return watchEvents({
      url: buildApiUrl('/factories/{factory}/live-deliveries', { factory, query: { webhook: uid } }),
      name: 'deliveries',
      onEvent: look,
      // What came while the connection was not there is not told again.
      onLive: live => live && look(),
    });
  }, [factory, uid, isWaiting]);
  return why;
}

/** When the component appeared, in ms. */
export function useOpenedAt(): number {
  return useState(Date.now)[0];
}
