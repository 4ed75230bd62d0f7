import type { ComponentChildren } from 'preact';
import { nowMs } from '../state/clock.ts';
import { timeZone } from '../state/time-zone.ts';
import { formatAge, formatExactTime, formatRelativeTime } from '../text/format-time.ts';
import { escapeInvisible, formatSize } from '../text/format-values.ts';

interface Properties {
  readonly at: string;
}

/** Text from outside: senders, definition files, git. It never becomes markup. */
export function Text({ text }: { readonly text: string }) {
  return <bdi>{escapeInvisible(text)}</bdi>;
}

export function Code({ text }: { readonly text: string }) {
  return (
    <code>
      <bdi>{escapeInvisible(text)}</bdi>
    </code>
  );
}

/** Text in which backticks enclose code. */
export function WithCode({ text }: { readonly text: string }) {
  return (
    <>{text.split('`').map((part, at) => (at % 2 === 1 ? <Code text={part} /> : <Text text={part} />))}</>
  );
}

/** A size in bytes, with the exact number on hover. */
export function Size({ bytes }: { readonly bytes: number }) {
  return <span title={`${bytes.toLocaleString('en')} bytes`}>{formatSize(bytes)}</span>;
}

/** How long ago something happened, with the exact time on hover. */
export function Time({ at }: Properties) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatExactTime(atMs, timeZone.value)}>
      {formatAge(atMs, nowMs.value)}
    </time>
  );
}

/** When something happened, or will happen if it is `due`. */
export function ExactTime({ at, due = false }: Properties & { readonly due?: boolean }) {
  const atMs = Date.parse(at);
  const format = due ? formatRelativeTime : formatAge;
  return (
    <time dateTime={at}>
      {formatExactTime(atMs, timeZone.value)}{' '}
      <span class="muted together">({format(atMs, nowMs.value)})</span>
    </time>
  );
}

export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
