import { useEffect, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { copyText } from './clipboard.ts';

interface Properties {
  readonly text: string | (() => Promise<string>);
  /** Completes the label of the button: `URL`. */
  readonly what: string;
  /** Whether everyone sees what is copied, not only screen readers. */
  readonly named?: boolean;
}

const confirmedMs = 2_000;

/** Copies text. Confirms it in its own label, because an open dialog would hide an announcement. */
export function CopyButton({ text, what, named = false }: Properties) {
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
      if (!done) announce(`Could not copy. Select the ${what} and copy it by hand.`);
    } catch (error) {
      announce(`Could not copy: ${error instanceof Error ? error.message : error}`);
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {copied ? 'Copied' : 'Copy'}
      {named ? ` ${what}` : <span class="unseen"> {what}</span>}
    </button>
  );
}
