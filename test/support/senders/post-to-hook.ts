import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** What came of a delivery: an answer, or the reason why there is none. */
export type HookOutcome = {
  readonly durationSeconds: number;
} & (
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly status: undefined; readonly reason: 'refused' | 'timeout'; readonly message: string }
);

/** Really sends a delivery to a hook's URL, which begins with `http:`. It follows no redirect. */
export async function postToHook(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  timeoutMs: number,
): Promise<HookOutcome> {
  const start = performance.now();
  const duration = () => ({ durationSeconds: Math.round(performance.now() - start) / 1000 });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const sent = request(url, { method: 'POST', headers, signal, agent: false });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const answer = await text(response);
    return {
      ...{ status: response.statusCode ?? 0, headers: namedHeaders(response), body: answer },
      ...duration(),
    };
  } catch (error) {
    const reason = signal.aborted ? 'timeout' : 'refused';
    const message = error instanceof Error ? error.message : String(error);
    return { status: undefined, reason, message, ...duration() };
  }
}

/** The headers as they were written. */
function namedHeaders({ rawHeaders }: IncomingMessage): Readonly<Record<string, string>> {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  return Object.fromEntries(names.map((name, index) => [name, rawHeaders[index * 2 + 1] ?? '']));
}
