import { useMemo, useState } from 'preact/hooks';
import { formatJson } from '../../../schema/format-json.ts';
import { escapeInvisible } from '../../text/escape-invisible.ts';
import { CopyButton } from '../copy-button.tsx';
import { Field } from '../field.tsx';

/** @limit Most matches that a search in a payload marks: each mark is an element of the page. */
export const markedMatchesMax = 500;

interface Properties {
  readonly payload: string;
  readonly downloadUrl: string;
}

/** Shows a stored payload, formatted and with a search. The download has its exact bytes. */
export function PayloadView({ payload, downloadUrl }: Properties) {
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
          <a class="button" href={downloadUrl} download>
            Download raw
          </a>
        </span>
      </div>
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
