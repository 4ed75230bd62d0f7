import { visibleText } from '../text/escape-invisible.ts';
import { CopyButton } from './copy-button.tsx';

interface Properties {
  readonly text: string;
  readonly what: string;
}

/** One line to take along. It is text and no field, which a browser would keep for its next start. */
export function CopyableLine({ text, what }: Properties) {
  return (
    <div class="copyable">
      <code>{visibleText(text)}</code>
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <pre tabIndex={0}>{visibleText(text)}</pre>
    </figure>
  );
}
