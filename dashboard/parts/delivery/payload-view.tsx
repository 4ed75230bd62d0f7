import { useMemo, useState } from 'preact/hooks';
import { formatJson } from '../../../schema/format-json.ts';
import { requestApi } from '../../api-client.ts';
import { useAction } from '../../state/use-action.ts';
import { escapeInvisible } from '../../text/escape-invisible.ts';
import { CopyButton } from '../copy-button.tsx';
import { Field } from '../field.tsx';
import { ProblemNotice } from '../problem-notice.tsx';

/** @limit Most matches that a search in a payload marks: each mark is an element of the page. */
export const markedMatchesMax = 500;

interface Properties {
  readonly payload: string;
  readonly downloadUrl: string;
  readonly fileName: string;
}

/** Shows a stored payload, formatted and with a search. The download has its exact bytes. */
export function PayloadView({ payload, downloadUrl, fileName }: Properties) {
  const { busy, error, run } = useAction(() => download(downloadUrl, fileName));
  const [search, setSearch] = useState('');
  const text = useMemo(() => escapeInvisible(formatJson(payload)), [payload]);
  const pieces = useMemo(() => split(text, search), [text, search]);
  const found = pieces.length - 1;
  return (
    <section class="payload" aria-label="Payload">
      <div class="toolbar">
        <Field label="Search the payload">
          {ids => (
            <input
              {...ids}
              type="search"
              placeholder="Search"
              autocomplete="off"
              spellcheck={false}
              value={search}
              onInput={event => setSearch(event.currentTarget.value)}
            />
          )}
        </Field>
        <span class="muted small" role="status">
          {search !== '' &&
            (found === 0 ? 'not found' : `found ${found}${found === markedMatchesMax ? ' or more' : ''}`)}
        </span>
        <span class="push actions">
          <CopyButton text={payload} what="payload" />
          <button type="button" disabled={busy} onClick={() => run()}>
            Download raw
          </button>
        </span>
      </div>
      <ProblemNotice error={error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre tabIndex={0}>
        {pieces.map((piece, index) => [
          index > 0 && <mark key={`mark-${index}`}>{piece.found}</mark>,
          piece.rest,
        ])}
      </pre>
    </section>
  );
}

/** Saves what the API answers in a file. A link could not send the key of the session. */
async function download(url: string, fileName: string): Promise<void> {
  const response = await requestApi(url);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** Splits text at the matches. Each piece is a match and the text up to the next one; the first has no match. */
function split(text: string, search: string): { found: string; rest: string }[] {
  if (search === '') return [{ found: '', rest: text }];
  const lower = text.toLowerCase();
  // If lower-casing changes the length of the text, the positions differ; the search is then case-sensitive.
  const [where, what] = lower.length === text.length ? [lower, search.toLowerCase()] : [text, search];
  const pieces: { found: string; rest: string }[] = [];
  let [found, from] = ['', 0];
  for (;;) {
    const at: number = pieces.length < markedMatchesMax ? where.indexOf(what, from) : -1;
    pieces.push({ found, rest: text.slice(from, at === -1 ? undefined : at) });
    if (at === -1) return pieces;
    found = text.slice(at, at + what.length);
    from = at + what.length;
  }
}
