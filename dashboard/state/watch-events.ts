import { parseJsonText } from '../../json/parse-json-text.ts';
import { requestApi } from '../api-client.ts';

interface WatchOptions<T> {
  readonly url: string;
  /** The name of the events. */
  readonly name: string;
  readonly onEvent: (data: T) => void;
  /** Called when the connection opens, and when it is lost: events in between are not received. */
  readonly onLive: (live: boolean) => void;
}

const reopenMs = 5_000;

/**
 * Receives Server-Sent Events until the returned function is called. Reads them itself, because an EventSource cannot
 * send the key of the session. Disconnects while the page is hidden: browsers open only six connections to a server,
 * over all tabs.
 */
export function watchEvents<T>({ url, name, onEvent, onLive }: WatchOptions<T>): () => void {
  let connection = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    clearTimeout(timer);
    connection.abort();
  };
  const open = async () => {
    close();
    connection = new AbortController();
    const { signal } = connection;
    try {
      const response = await requestApi(url, { signal });
      onLive(true);
      for await (const data of readEvents(response, name)) onEvent(parseJsonText(data) as T);
    } catch {
      // Refused or interrupted: tried again below.
    }
    if (signal.aborted) return;
    onLive(false);
    timer = setTimeout(() => void open(), reopenMs);
  };
  const follow = () => {
    if (!document.hidden) return void open();
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

/** Yields the data of each event with this name, as the daemon writes them: one line of data each. */
async function* readEvents({ body }: Response, name: string): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const head = `event: ${name}\ndata: `;
  let unread = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (unread + value).split('\n\n');
    unread = blocks.pop() ?? '';
    for (const block of blocks) if (block.startsWith(head)) yield block.slice(head.length);
  }
}
