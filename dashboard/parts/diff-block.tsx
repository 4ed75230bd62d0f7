import type { DiffLine } from '../../schema/changes/show-change.ts';
import { escapeInvisible } from '../text/format-values.ts';

export function DiffBlock({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <pre class="diff" tabIndex={0}>
      {lines.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </pre>
  );
}

/** What somebody has changed against the definition file: nothing else can be changed without it. */
export function EnabledDiff({ enabled }: { readonly enabled: boolean }) {
  return (
    <DiffBlock
      lines={[
        { mark: '-', text: `enabled: ${!enabled}` },
        { mark: '+', text: `enabled: ${enabled}` },
      ]}
    />
  );
}

function Line({ line: { mark, text } }: { readonly line: DiffLine }) {
  const shown = `${mark} ${escapeInvisible(text)}\n`;
  if (mark === '+') return <ins>{shown}</ins>;
  return mark === '-' ? <del>{shown}</del> : <span>{shown}</span>;
}
