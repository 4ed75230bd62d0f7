import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type DeliveryKind, deliveryKinds } from '../../schema/delivery.ts';
import { goTo } from '../state/current-location.ts';
import type { PageLocation } from '../state/page-location.ts';
import { timeZone } from '../state/time.ts';
import { type Bar, countBar, type Span, toAxis } from '../text/delivery-bars.ts';
import { dayOf, formatDayMark, formatHourMark, formatHours } from '../text/format-time.ts';
import { Sec } from './tables.tsx';
import { Text } from './text.tsx';

interface Properties {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly span: Span;
  /** What lists the deliveries of a bar. */
  readonly toList?: ((index: number) => BarList) | undefined;
}

/** The page that lists the deliveries of a bar, or the deliveries of one factory among them. */
export interface BarList {
  readonly to: PageLocation;
  readonly factory?: string | undefined;
}

/** The class of each kind: what is usual has none. */
const classes: Readonly<Record<DeliveryKind, string>> = { accepted: '', duplicate: 'u', rejected: 'r' };

/** From the top of a bar to its foot. */
const stacked = deliveryKinds.toReversed();

/**
 * Deliveries by time and kind. Each bar is a button that lists its deliveries. One of them is in the order of the Tab key;
 * the arrow keys, Home and End lead to the others.
 */
export function HourChart({ title, bars, span, toList }: Properties) {
  const [shown, setShown] = useState<number>();
  const [reached, setReached] = useState(bars.length - 1);
  const { step, top } = toAxis(Math.max(...bars.map(countBar)));
  return (
    <section>
      <Sec title={title} isWrapped>
        {deliveryKinds.map(kind => (
          <span key={kind} class="key">
            <span class={`sw ${classes[kind]}`} />
            {kind}
          </span>
        ))}
      </Sec>
      <figure class="chart" aria-label={title}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons in it take the keys */}
        <div
          class="plot"
          onKeyDown={event => {
            if (event.key === 'Escape') setShown(undefined);
            else moveFocus(event);
          }}
          onPointerLeave={() => setShown(undefined)}
        >
          {[20, 40, 60, 80].map(percent => (
            <span key={percent} class="grid" style={{ bottom: `${percent}%` }} />
          ))}
          {bars.map((bar, index) => {
            const list = toList?.(index);
            const them = list?.factory === undefined ? 'them' : `those of ${list.factory}`;
            return (
              <button
                key={bar.fromMs}
                type="button"
                class={`col ${index === shown ? 'is-hover' : ''}`}
                tabIndex={index === Math.min(reached, bars.length - 1) ? 0 : -1}
                aria-label={`${describeBar(bar, span)}${list ? `. List ${them}` : ''}`}
                onPointerEnter={() => setShown(index)}
                onFocus={() => {
                  setShown(index);
                  setReached(index);
                }}
                onBlur={() => setShown(undefined)}
                onClick={() => list && goTo(list.to)}
              >
                <Stack bar={bar} top={top} />
                {index === shown && <Tip bar={bar} isLeft={index >= bars.length / 2} list={list} />}
              </button>
            );
          })}
        </div>
        <ValueAxis step={step} />
        <TimeAxis bars={bars} span={span} />
        <BarTable title={title} bars={bars} />
      </figure>
    </section>
  );
}

/** Three round values. */
function ValueAxis({ step }: { readonly step: number }) {
  return (
    <div class="yaxis" aria-hidden="true">
      {[0, 1, 2].map(mark => (
        <span key={mark} style={{ bottom: `${mark * 40}%` }}>
          {(mark * step).toLocaleString('en')}
        </span>
      ))}
    </div>
  );
}

function Stack({ bar: { kinds }, top }: { readonly bar: Bar; readonly top: number }) {
  return (
    <>
      {stacked
        .filter(kind => kinds[kind] > 0)
        .map(kind => (
          // A single delivery stays visible beside a thousand others.
          <i
            key={kind}
            class={classes[kind]}
            style={{ height: `max(2px, ${((kinds[kind] / top) * 100).toFixed(2)}%)` }}
          />
        ))}
    </>
  );
}

interface TipProperties {
  readonly bar: Bar;
  readonly isLeft: boolean;
  /** What a click shows. */
  readonly list: BarList | undefined;
}

/** The name of the button says the same. */
function Tip({ bar, isLeft, list }: TipProperties) {
  return (
    <span class={`tip ${isLeft ? 'left' : ''}`} aria-hidden="true">
      <b>{formatHours(bar.fromMs, bar.toMs, timeZone.value)}</b>
      <span class="kv">
        {deliveryKinds.map(kind => (
          <>
            <span class={`sw ${classes[kind]}`} />
            <span>{kind}</span>
            <span>{bar.kinds[kind].toLocaleString('en')}</span>
          </>
        ))}
      </span>
      {list && countBar(bar) > 0 && (
        <span class="t3">
          Click to list{' '}
          {list.factory === undefined ? (
            `these ${countBar(bar).toLocaleString('en')}`
          ) : (
            <>
              those of <Text text={list.factory} />
            </>
          )}
        </span>
      )}
    </span>
  );
}

function TimeAxis({ bars, span }: Pick<Properties, 'bars' | 'span'>) {
  const zone = timeZone.value;
  const marks = bars.map(({ fromMs }, index): ComponentChildren => {
    if (index === bars.length - 1) return 'now';
    // It would touch its neighbour on a phone.
    if (index === bars.length - 2) return '';
    if (span === 'week') {
      const before = bars[index - 1];
      return before && dayOf(before.fromMs, zone) !== dayOf(fromMs, zone) ? formatDayMark(fromMs, zone) : '';
    }
    const mark = formatHourMark(fromMs, zone);
    return Number(mark.slice(0, 2)) % 4 === 0 ? mark : '';
  });
  return (
    <div class="xaxis" aria-hidden="true">
      {marks.map((mark, index) => (
        <span key={bars[index]?.fromMs}>{mark}</span>
      ))}
    </div>
  );
}

/** The same as a table for screen readers: the newest time first, and only times with deliveries. */
function BarTable({ title, bars }: Pick<Properties, 'title' | 'bars'>) {
  return (
    <div class="unseen">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {deliveryKinds.map(kind => (
              <th key={kind} scope="col">
                {kind}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars
            .filter(bar => countBar(bar) > 0)
            .toReversed()
            .map(bar => (
              <tr key={bar.fromMs}>
                <th scope="row">{formatHours(bar.fromMs, bar.toMs, timeZone.value)}</th>
                {deliveryKinds.map(kind => (
                  <td key={kind}>{bar.kinds[kind]}</td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

/** `23:00: 27 accepted, 0 duplicate, 12 rejected`. */
function describeBar({ fromMs, toMs, kinds }: Bar, span: Span): string {
  const zone = timeZone.value;
  const counts = deliveryKinds.map(kind => `${kinds[kind]} ${kind}`);
  const time = span === 'day' ? formatHourMark(fromMs, zone) : formatHours(fromMs, toMs, zone);
  return `${time}: ${counts.join(', ')}`;
}

/** Moves the focus between the bars that are shown. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const bars = [...event.currentTarget.querySelectorAll('button')].filter(bar => bar.offsetParent !== null);
  const at = bars.indexOf(document.activeElement as HTMLButtonElement);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  bars[Math.min(bars.length - 1, Math.max(0, next))]?.focus();
}

/** One hour, or several: what is usual, and above it what is not. */
export interface SparkBar {
  readonly usual: number;
  readonly bad: number;
}

interface SparkProperties {
  readonly bars: readonly SparkBar[];
  readonly width?: number;
  readonly height?: number;
}

/** Bars without an axis, in their own scale. A number beside them tells the same. */
export function Spark({ bars, width = 96, height = 22 }: SparkProperties) {
  const step = width / Math.max(1, bars.length);
  const scale = (height - 1) / Math.max(1, ...bars.map(({ usual, bad }) => usual + bad));
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      style={{ width: `${width}px`, height: `${height}px` }}
      aria-hidden="true"
    >
      {bars.map(({ usual, bad }, index) => {
        const at = { key: index, x: index * step, width: step * 0.72 };
        if (usual + bad === 0) return <rect {...at} class="z" y={height - 1} height={1} />;
        const [low, high] = [tall(usual, scale), tall(bad, scale)];
        return (
          <>
            {usual > 0 && <rect {...at} y={height - low} height={low} />}
            {bad > 0 && <rect {...at} key={`${index}r`} class="r" y={height - low - high} height={high} />}
          </>
        );
      })}
    </svg>
  );
}

/** A single one stays visible beside a thousand others. */
function tall(count: number, scale: number): number {
  return count === 0 ? 0 : Math.max(1.5, count * scale);
}
