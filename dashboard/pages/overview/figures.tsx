import type { ComponentChildren } from 'preact';
import { hourMs } from '../../../schema/time-units.ts';
import { Spark, type SparkBar } from '../../parts/charts.tsx';
import type { FactoryDays } from '../../state/loaded-objects.ts';
import { type FactoryLocation, toHref } from '../../state/page-location.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import {
  addHours,
  compareDays,
  type Span,
  spans,
  sumHours,
  sumLast,
  toBarCounts,
} from '../../text/delivery-bars.ts';
import { formatDuration, formatHourMark } from '../../text/format-time.ts';

interface Properties {
  readonly days: readonly FactoryDays[];
  readonly span: Span;
}

interface FigureProperties {
  readonly name: string;
  readonly value: ComponentChildren;
  /** What is usual, or what belongs to the value. */
  readonly more: ComponentChildren;
  readonly bars?: readonly SparkBar[];
  /** The page that lists what is counted; undefined for several factories. */
  readonly to: FactoryLocation | undefined;
}

const dayHours = 24;
/** The whole days before the last 24 hours of which numbers are kept. */
const daysBefore = 6;

/** Four numbers of the last day or week, each beside what is usual. */
export function Figures({ days, span }: Properties) {
  const [only, ...others] = days;
  const factory = others.length === 0 ? only?.factory : undefined;
  const deliveries = factory === undefined ? undefined : ({ page: 'deliveries', factory } as const);
  const runs = factory === undefined ? undefined : ({ page: 'runs', factory } as const);
  const tallies = days.flatMap(({ health }) => health.webhooks.flatMap(webhook => webhook.tallies));
  return (
    <section class="figures" aria-label={`The last ${spans[span].label}`}>
      <Accepted hours={sumHours(tallies, 'accepted')} span={span} to={deliveries} />
      <Rejected hours={sumHours(tallies, 'rejected')} span={span} to={deliveries} />
      <Runs days={days} span={span} to={runs} />
      <RunTime days={days} to={runs} />
    </section>
  );
}

interface CountProperties extends Pick<Properties, 'span'>, Pick<FigureProperties, 'to'> {
  readonly hours: readonly number[];
}

function Accepted({ hours, span, to }: CountProperties) {
  const count = sumLast(hours, spans[span].hours);
  const more =
    span === 'day'
      ? compareDays(count, sumLast(hours, dayHours, dayHours))
      : `${showCount(Math.round(count / 7))} a day`;
  const bars = toBarCounts(hours, span).map(usual => ({ usual, bad: 0 }));
  return <Figure name="Accepted" value={showCount(count)} more={more} bars={bars} to={to} />;
}

function Rejected({ hours, span, to }: CountProperties) {
  const count = sumLast(hours, spans[span].hours);
  const usual = Math.round(sumLast(hours, daysBefore * dayHours, dayHours) / daysBefore);
  const lately = sumLast(hours, 2);
  const sinceMs = Math.floor(nowMs.value / hourMs - 1) * hourMs;
  const more = [
    `usually ${showCount(usual)}${span === 'week' ? ' a day' : ''}`,
    ...(lately > 0 ? [`${showCount(lately)} since ${formatHourMark(sinceMs, timeZone.value)}`] : []),
  ].join('; ');
  const bars = toBarCounts(hours, span).map(bad => ({ usual: 0, bad }));
  return <Figure name="Rejected" value={showCount(count)} more={more} bars={bars} to={to} />;
}

function Runs({ days, span, to }: Properties & Pick<FigureProperties, 'to'>) {
  const automations = days.flatMap(({ runs }) => runs.automations);
  const succeeded = addHours(automations.map(each => each.succeeded));
  const failed = addHours(automations.map(each => each.failed));
  const failures = sumLast(failed, spans[span].hours);
  const count = (of: (now: FactoryDays['runs']['now']) => number) =>
    days.reduce((sum, { runs }) => sum + of(runs.now), 0);
  const queued = count(({ queued, held, waiting }) => queued + held + waiting);
  const bad = toBarCounts(failed, span);
  const bars = toBarCounts(succeeded, span).map((usual, index) => ({ usual, bad: bad[index] ?? 0 }));
  return (
    <Figure
      name="Runs"
      value={
        <>
          {showCount(sumLast(succeeded, spans[span].hours))} <small>succeeded</small>
        </>
      }
      more={
        <>
          {failures > 0 && (
            <>
              <b class="bad">{showCount(failures)} failed</b> ·{' '}
            </>
          )}
          {showCount(count(({ running }) => running))} running · {showCount(queued)} queued
        </>
      }
      bars={bars}
      to={to}
    />
  );
}

/** Of one factory: the times of several cannot be added up. */
function RunTime({ days, to }: Pick<Properties, 'days'> & Pick<FigureProperties, 'to'>) {
  const { day, dayBefore } = days[0]?.runs.duration ?? {};
  if (days.length !== 1 || !day) return null;
  const before = dayBefore ? `; the day before ${showTime(dayBefore.medianMs)}` : '';
  return (
    <Figure
      name="Median time to run end, 24 hours"
      value={showTime(day.medianMs)}
      more={`slowest 10 %: over ${showTime(day.p90Ms)}${before}`}
      to={to}
    />
  );
}

function Figure({ name, value, more, bars, to }: FigureProperties) {
  return (
    <a href={to && toHref(to)}>
      <span class="k">{name}</span>
      <span class="v">{value}</span>
      <span class="d">{more}</span>
      {bars && <Spark bars={bars} />}
    </a>
  );
}

function showCount(count: number): string {
  return count.toLocaleString('en');
}

/** `1 m 48 s`, `35 ms`. */
function showTime(ms: number): string {
  return ms < 100 ? `${ms} ms` : formatDuration(ms).replace('min', 'm');
}
