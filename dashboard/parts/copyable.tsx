import { escapeInvisible } from '../text/escape-invisible.ts';
import { CopyButton } from './copy-button.tsx';

interface Properties {
  readonly text: string;
  readonly what: string;
}

/** A line with a copy button. It is not a form field, because browsers may restore the value of a field later. */
export function CopyableLine({ text, what }: Properties) {
  return (
    <div class="copyable">
      <code>{escapeInvisible(text)}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}

export function CopyableBlock({ text, what }: Properties) {
  return (
    <figure class="block">
      <figcaption>
        <span>{what}</span>
        <CopyButton text={text} what={what} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre tabIndex={0}>{escapeInvisible(text)}</pre>
    </figure>
  );
}
