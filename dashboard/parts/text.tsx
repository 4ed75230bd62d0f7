import type { ComponentChildren } from 'preact';
import { type PageLocation, toHref } from '../state/page-location.ts';
import { nowMs, timeZone } from '../state/time.ts';
import {
  dayOf,
  formatAge,
  formatBothTimes,
  formatClockTime,
  formatExactTime,
  formatLength,
  formatMoment,
  formatRelativeTime,
} from '../text/format-time.ts';
import { escapeInvisible, formatSize, shortenId } from '../text/format-values.ts';
import { CopyButton } from './copyable.tsx';

interface Properties {
  readonly at: string;
}

interface FactsProperties {
  readonly across?: boolean;
  readonly children: ComponentChildren;
}

interface TextProperties {
  readonly text: string;
  readonly class?: string;
}

/** Text from outside: senders, definition files, git. It never becomes markup. */
export function Text({ text, class: className }: TextProperties) {
  const shown = <bdi>{escapeInvisible(text)}</bdi>;
  return className === undefined ? shown : <span class={className}>{shown}</span>;
}

/** Text in which each place with what is sought is marked. */
export function Marked({ text, sought }: { readonly text: string; readonly sought: string }) {
  const at = sought === '' ? -1 : text.toLowerCase().indexOf(sought.toLowerCase());
  if (at === -1) return <Text text={text} />;
  const end = at + sought.length;
  return (
    <>
      <Text text={text.slice(0, at)} />
      <mark>
        <Text text={text.slice(at, end)} />
      </mark>
      <Marked text={text.slice(end)} sought={sought} />
    </>
  );
}

interface LinkProperties extends TextProperties {
  readonly to: PageLocation;
  /** For screen readers, if the text does not say enough. */
  readonly 'aria-label'?: string;
}

/** A link within the dashboard. */
export function Link({ text, to, class: className, 'aria-label': label }: LinkProperties) {
  return (
    <a class={className} href={toHref(to)} aria-label={label}>
      <Text text={text} />
    </a>
  );
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

interface AtProperties extends Properties {
  /** Says the time. */
  readonly say: (atMs: number) => string;
  readonly class?: string;
}

/** A time, with both time zones and milliseconds on hover. */
export function At({ at, say, class: className }: AtProperties) {
  const atMs = Date.parse(at);
  return (
    <time class={className} dateTime={at} title={formatBothTimes(atMs)}>
      {say(atMs)}
    </time>
  );
}

/** How long ago something happened. */
export function Time({ at }: Properties) {
  return <At at={at} say={atMs => formatAge(atMs, nowMs.value)} />;
}

/** `00:07:08`: for lists, which say the day above. */
export function ClockTime({ at }: Properties) {
  return <At at={at} say={() => formatClockTime(at, timeZone.value)} />;
}

/** `00:07:08` today, `3 Nov, 08:11` before: where no row says the day. */
export function Moment({ at }: Properties) {
  const isToday = dayOf(Date.parse(at), timeZone.value) === dayOf(nowMs.value, timeZone.value);
  return isToday ? <ClockTime at={at} /> : <At at={at} say={sayMoment} />;
}

/** `23:49, 18 min`: since when something is so, and how long that is. */
export function Since({ at }: Properties) {
  return <At at={at} say={atMs => `${sayMoment(atMs)}, ${formatLength(nowMs.value - atMs)}`} />;
}

function sayMoment(atMs: number): string {
  return formatMoment(atMs, nowMs.value, timeZone.value);
}

/** An ID, shortened, with a button that copies the whole. */
export function Id({ id, isCopied = true }: { readonly id: string; readonly isCopied?: boolean }) {
  return (
    <span class="id flow" title={id}>
      {shortenId(id)}
      {isCopied && <CopyButton text={id} what="ID" kind="icon" />}
    </span>
  );
}

/** When something happened, or will happen if it is `due`. */
export function ExactTime({ at, due = false }: Properties & { readonly due?: boolean }) {
  const atMs = Date.parse(at);
  const format = due ? formatRelativeTime : formatAge;
  return (
    <time dateTime={at}>
      {formatExactTime(atMs, timeZone.value)} <span class="t3 nowrap">({format(atMs, nowMs.value)})</span>
    </time>
  );
}

/** Facts below each other, or `across`: beside each other. */
export function Facts({ across = false, children }: FactsProperties) {
  return <dl class={across ? 'facts across' : 'facts'}>{children}</dl>;
}

interface FactProperties {
  readonly term: string;
  /** Without it, there is no such fact. */
  readonly value: ComponentChildren;
}

export function Fact({ term, value }: FactProperties) {
  if (value === undefined || value === null || value === false) return null;
  return (
    <div class="fact">
      <dt>{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}
