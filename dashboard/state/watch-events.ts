interface WatchOptions<T> {
  readonly url: string;
  /** The name of the events. */
  readonly name: string;
  readonly onEvent: (data: T) => void;
  /** Called when the connection opens, and when it is lost: events in between are not received. */
  readonly onLive: (live: boolean) => void;
}

const reopenMs = 10_000;

/**
 * Receives Server-Sent Events until the returned function is called. Disconnects while the page is hidden: browsers
 * open only six connections to a server, over all tabs.
 */
export function watchEvents<T>({ url, name, onEvent, onLive }: WatchOptions<T>): () => void {
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
    opened.addEventListener(name, event => onEvent(JSON.parse(event.data) as T));
    opened.addEventListener('error', () => {
      onLive(false);
      // The browser reconnects after a lost connection, but not after a refusal.
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
