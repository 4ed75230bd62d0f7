import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { hasEnded } from '../../../schema/delivery.ts';
import type { ShownRun } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button, Segments } from '../../parts/controls.tsx';
import { CopyButton } from '../../parts/copyable.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad, useRunRefresh } from '../../state/loading.ts';
import { escapeInvisible, formatSize } from '../../text/format-values.ts';
import { type OutputPart, splitOutput } from '../../text/run-path.ts';

/** @limit Lines of an attempt's output that the page shows, the last ones: more make a browser slow. The copy has all. */
const linesMax = 5_000;

/** The output, attempt by attempt. It follows the end while the run is executed, until the reader scrolls up. */
export function OutputPane({ run }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    async signal => {
      try {
        return await callApi('get', '/factories/{factory}/runs/{run}/output', {
          factory,
          run: run.id,
          signal,
        });
      } catch (failure) {
        if (isMissing(failure)) return '';
        throw failure;
      }
    },
    [factory, run.id, run.state, run.attempts],
  );
  useRunRefresh(reload, [run]);
  const parts = useMemo(() => splitOutput(typeof value === 'string' ? value : ''), [value]);
  const [chosen, setChosen] = useState<string>();
  if (typeof value !== 'string') return <Waiting error={error} reload={reload} what="the output" />;
  if (value === '') {
    return <p class="t3">{hasEnded(run.state) ? 'No output is stored.' : 'Nothing was written so far.'}</p>;
  }
  const part = parts.find(({ label }) => label === chosen) ?? parts.at(-1);
  const isGrowing = !hasEnded(run.state) && part === parts.at(-1);
  return (
    <div class="code output">
      <header>
        {isGrowing ? <span class="live">following</span> : <span>{formatSize(new Blob([value]).size)}</span>}
        <span class="push" />
        {parts.length > 1 && parts.length <= 6 && (
          <Segments
            label="Attempt"
            value={part?.label ?? ''}
            options={parts.map(({ label }) => [label, label.charAt(0).toUpperCase() + label.slice(1)])}
            onChange={setChosen}
          />
        )}
        <CopyButton text={part?.lines.join('\n') ?? ''} what="output" kind="icon" />
      </header>
      {part && <Lines part={part} isGrowing={isGrowing} />}
    </div>
  );
}

function isMissing(failure: unknown): boolean {
  return (failure as { problem?: { code?: string } }).problem?.code === 'output-not-stored';
}

function Lines({ part, isGrowing }: { readonly part: OutputPart; readonly isGrowing: boolean }) {
  const area = useRef<HTMLPreElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const { lines } = part;
  useLayoutEffect(() => {
    if (isGrowing && isFollowing) area.current?.scrollTo({ top: area.current.scrollHeight });
  }, [lines.length, isGrowing, isFollowing]);
  const skipped = Math.max(0, lines.length - linesMax);
  return (
    <>
      <pre
        ref={area}
        class={`lines ${isGrowing ? 'grows' : ''}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        style={{ counterReset: `l ${skipped}` }}
        onScroll={event => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          setFollowing(scrollHeight - scrollTop - clientHeight < 8);
        }}
      >
        {lines.slice(skipped).map((line, index) => (
          <span key={index + skipped} class={`l ${line.startsWith('[hookmill: ') ? 'c' : ''}`}>
            {escapeInvisible(line)}
          </span>
        ))}
      </pre>
      {isGrowing && !isFollowing && (
        <Button look="small follow" label="Follow" onClick={() => setFollowing(true)} />
      )}
    </>
  );
}
