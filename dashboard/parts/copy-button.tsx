import { useEffect, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { copyText } from './clipboard.ts';

interface Properties {
  readonly text: string;
  /** What is copied, as in `URL`. */
  readonly what: string;
}

const toldMs = 2_000;

/** Copies, and says so where it was pressed: over a dialog nothing else is seen. */
export function CopyButton({ text, what }: Properties) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), toldMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    const done = await copyText(text);
    setCopied(done);
    if (!done) announce(`The browser does not let it be copied: select ${what}`);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {copied ? 'Copied' : 'Copy'}
      <span class="unseen"> {what}</span>
    </button>
  );
}
