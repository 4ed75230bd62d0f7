import { announce } from '../announcements.ts';
import { copyText } from '../clipboard.ts';

interface Properties {
  readonly text: string;
  /** What is copied, as in `URL`. */
  readonly what: string;
  readonly primary?: boolean;
}

export function CopyButton({ text, what, primary = false }: Properties) {
  const copy = async () => {
    announce(
      (await copyText(text)) ? `Copied: ${what}` : `The browser does not let ${what} be copied: select it`,
    );
  };
  return (
    <button type="button" class={primary ? 'primary' : ''} onClick={() => void copy()}>
      Copy<span class="unseen"> {what}</span>
    </button>
  );
}
