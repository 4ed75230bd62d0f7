import { apiUrl } from '../api-client.ts';
import type { LiveDeliveries } from '../api-types.ts';

interface Watching {
  readonly factory: string;
  /** Only of the webhook with this UID. */
  readonly webhook: string | undefined;
  readonly onDeliveries: (event: LiveDeliveries) => void;
  /** The view is live; or it is not, and what comes meanwhile is not told. */
  readonly onLive: (live: boolean) => void;
}

const reopenMs = 10_000;

/**
 * Tells of deliveries as they are committed, until the function that it gives is called. A page that nobody looks at
 * is not live: browsers open only six connections to a server, over all tabs.
 */
export function watchDeliveries({ factory, webhook, onDeliveries, onLive }: Watching): () => void {
  const url = apiUrl('/factories/{factory}/live-deliveries', { factory, query: { webhook } });
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    const opened = new EventSource(url);
    source = opened;
    opened.addEventListener('open', () => onLive(true));
    opened.addEventListener('deliveries', event => onDeliveries(JSON.parse(event.data) as LiveDeliveries));
    opened.addEventListener('error', () => {
      onLive(false);
      // What broke is reconnected by the browser; what was refused is not.
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(open, reopenMs);
    });
  };
  const follow = () => {
    if (!document.hidden) return open();
    close();
    onLive(false);
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close();
  };
}
