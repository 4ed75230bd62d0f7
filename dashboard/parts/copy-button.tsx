import { useEffect, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { copyText } from './clipboard.ts';

interface Properties {
  readonly text: string;
  /** Completes the label of the button: `URL`. */
  readonly what: string;
}

const confirmedMs = 2_000;

/** Copies text. Confirms it in its own label, because an open dialog would hide an announcement. */
export function CopyButton({ text, what }: Properties) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), confirmedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await copyText(text);
    setCopied(done);
    if (!done) announce(`Could not copy. Select the ${what} and copy it by hand.`);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {copied ? 'Copied' : 'Copy'}
      <span class="unseen"> {what}</span>
    </button>
  );
}
