import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatJson } from '../../../schema/text/json-text.ts';
import { requestApi } from '../../api-client.ts';
import { useAction } from '../../state/use-action.ts';
import { escapeInvisible } from '../../text/format-values.ts';
import { CopyButton } from '../copyable.tsx';
import { Field } from '../fields.tsx';
import { ProblemNotice } from '../problem-notice.tsx';

/** @limit Most matches that a search in a payload marks: each mark is an element of the page. */
const markedMatchesMax = 500;

interface Properties {
  readonly payload: string;
  readonly downloadUrl: string;
  readonly fileName: string;
  /** More buttons. */
  readonly children?: ComponentChildren;
}

/** Shows a stored payload, formatted and with a search that goes from match to match. The download has its exact bytes. */
export function PayloadView({ payload, downloadUrl, fileName, children }: Properties) {
  const { busy, error, run } = useAction(() => download(downloadUrl, fileName));
  const [search, setSearch] = useState('');
  const [current, setCurrent] = useState(0);
  const text = useMemo(() => escapeInvisible(formatJson(payload)), [payload]);
  const pieces = useMemo(() => split(text, search), [text, search]);
  const found = pieces.length - 1;
  const area = useRef<HTMLPreElement>(null);
  useEffect(() => {
    area.current?.querySelector('.current')?.scrollIntoView({ block: 'nearest' });
  }, [pieces, current]);
  const look = (sought: string) => {
    setSearch(sought);
    setCurrent(0);
  };
  const go = (step: number) => found > 0 && setCurrent((current + step + found) % found);
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
              onInput={event => look(event.currentTarget.value)}
              onKeyDown={event => event.key === 'Enter' && go(event.shiftKey ? -1 : 1)}
            />
          )}
        </Field>
        {search !== '' && <Matches found={found} current={current} onGo={go} />}
        <span class="push actions">
          <CopyButton text={payload} what="payload" />
          {children}
          <button type="button" disabled={busy} onClick={() => run()}>
            Download raw
          </button>
        </span>
      </div>
      <ProblemNotice error={error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre ref={area} tabIndex={0}>
        {pieces.map((piece, index) => [
          index > 0 && (
            <mark key={`mark-${index}`} class={index === current + 1 ? 'current' : ''}>
              {piece.found}
            </mark>
          ),
          piece.rest,
        ])}
      </pre>
    </section>
  );
}

interface MatchesProperties {
  readonly found: number;
  /** Which of them is shown, from 0 on. */
  readonly current: number;
  readonly onGo: (step: number) => void;
}

function Matches({ found, current, onGo }: MatchesProperties) {
  const all = found === markedMatchesMax ? `${found} or more` : found;
  return (
    <span class="pair">
      <span class="t3 small" role="status">
        {found === 0 ? 'not found' : `${current + 1} of ${all}`}
      </span>
      {found > 1 && (
        <>
          <button type="button" aria-label="Previous match" title="Shift+Enter" onClick={() => onGo(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Next match" title="Enter" onClick={() => onGo(1)}>
            ↓
          </button>
        </>
      )}
    </span>
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
