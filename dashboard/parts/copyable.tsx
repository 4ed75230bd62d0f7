import { useEffect, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { escapeInvisible } from '../text/format-values.ts';
import { Button } from './controls.tsx';
import { Icon } from './icons.tsx';

interface CopyButtonProperties {
  readonly text: string | (() => Promise<string>);
  /** Completes the label of the button: `URL`. */
  readonly what: string;
  /** Whether everyone sees what is copied, not only screen readers. */
  readonly named?: boolean;
  /** What the button says instead of "Copy". */
  readonly shown?: string;
  /** `icon`: without a word; `text`: without a button's look. */
  readonly kind?: 'button' | 'icon' | 'text';
  /** Called once it is copied. */
  readonly onCopied?: (() => void) | undefined;
}

const confirmedMs = 2_000;

interface Properties {
  readonly text: string;
  readonly what: string;
}

/** A line with a copy button. It is not a form field, because browsers may restore the value of a field later. */
export function CopyableLine({
  text,
  what,
  isCommand = false,
  onCopied,
}: Properties & { readonly isCommand?: boolean; readonly onCopied?: (() => void) | undefined }) {
  return (
    <div class="copyline">
      <code>
        {isCommand && <span class="cmd">$ </span>}
        {escapeInvisible(text)}
      </code>
      <CopyButton text={text} what={what} onCopied={onCopied} />
    </div>
  );
}

export function CopyableBlock({ text, what }: Properties) {
  return (
    <figure class="code">
      <header>
        <span class="cut">{what}</span>
        <span class="push" />
        <CopyButton text={text} what={what} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre class="shell" tabIndex={0}>
        {escapeInvisible(text)}
      </pre>
    </figure>
  );
}

/** Copies text. Confirms it in its own label, because an open dialog would hide an announcement. */
export function CopyButton(properties: CopyButtonProperties) {
  const { text, what, named = false, kind = 'button', shown = 'Copy', onCopied } = properties;
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), confirmedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      const done = await copyText(typeof text === 'string' ? text : await text());
      setCopied(done);
      if (done) onCopied?.();
      if (!done) announce(`Could not copy. Select the ${what} and copy it by hand.`);
    } catch (error) {
      announce(`Could not copy: ${error instanceof Error ? error.message : error}`);
    }
  };
  const label = `${copied ? 'Copied' : 'Copy'} ${what}`;
  if (kind === 'icon') {
    return (
      <button type="button" class="copy-icon" aria-label={label} title={label} onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} />
      </button>
    );
  }
  if (kind === 'text') {
    return (
      <button type="button" class="copy-text" onClick={() => void copy()}>
        {label}
      </button>
    );
  }
  return (
    <Button
      look="small"
      icon={copied ? 'check' : 'copy'}
      label={named ? label : copied ? 'Copied' : shown}
      aria-label={label}
      onClick={() => void copy()}
    />
  );
}

/** Copies text. Without TLS, browsers hide the clipboard from scripts, so it copies a selection instead. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const holder = document.createElement('span');
  holder.textContent = text;
  holder.className = 'copied';
  // While a dialog is open, nothing outside of it can be selected.
  (document.activeElement?.closest('dialog') ?? document.body).append(holder);
  getSelection()?.selectAllChildren(holder);
  const copied = document.execCommand('copy');
  getSelection()?.removeAllRanges();
  holder.remove();
  return copied;
}
