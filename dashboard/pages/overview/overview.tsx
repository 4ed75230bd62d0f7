import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type BarList, HourChart } from '../../parts/charts.tsx';
import { Segments } from '../../parts/controls.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Sign } from '../../parts/signs.tsx';
import { attention, attentionCount } from '../../state/attention.ts';
import { daemonAway } from '../../state/connection.ts';
import type { FactoryDays } from '../../state/loaded-objects.ts';
import { areSettled } from '../../state/loading.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { type Bar, countBar, type Span, spans, toBars } from '../../text/delivery-bars.ts';
import { formatMinute } from '../../text/format-time.ts';
import { formatCount } from '../../text/format-values.ts';
import { AttentionList } from './attention-list.tsx';
import { useDetails } from './explain-item.tsx';
import { Figures } from './figures.tsx';
import { WebhookTable } from './webhook-table.tsx';

interface Properties {
  /** One factory, or several of which each subject needs the name. */
  readonly days: readonly FactoryDays[];
  /** What is said if nothing needs attention. */
  readonly allWell: ComponentChildren;
}

interface VerdictProperties {
  readonly sub?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** How factories do: what needs attention, the numbers of a day or a week, and their webhooks. */
export function Overview({ days, allWell }: Properties) {
  const [span, setSpan] = useState<Span>('day');
  const details = useDetails(attention.value);
  if (!areSettled(details)) return <Waiting error={undefined} reload={details.reload} what="what is wrong" />;
  const { label } = spans[span];
  const tallies = days.flatMap(({ health }) => health.webhooks.flatMap(webhook => webhook.tallies));
  const ofFactories = days.map(each => toFactoryBars(each, span));
  const [only, ...others] = days;
  const factory = others.length === 0 ? only?.factory : undefined;
  return (
    <div class="page">
      <Verdict
        sub={
          <span>
            The last {label}, to {formatMinute(nowMs.value, timeZone.value)}
            {timeZone.value === 'utc' && ' UTC'}
          </span>
        }
        actions={
          <>
            {/* Read again and again, until the daemon does not answer. */}
            {!daemonAway.value && <span class="live no-phone">live</span>}
            <Segments
              class="no-phone"
              label="Period"
              value={span}
              options={Object.entries(spans).map(([value, { label }]) => [value as Span, label] as const)}
              onChange={setSpan}
            />
          </>
        }
      />
      <AttentionList
        items={attention.value}
        isNamed={factory === undefined}
        details={details.value ?? new Map()}
      />
      {attention.value.length === 0 && <p class="acked well">{allWell}</p>}
      <Figures days={days} span={span} />
      <HourChart
        title={span === 'day' ? 'Deliveries by hour' : 'Deliveries by 4 hours'}
        bars={toBars(only?.health.since ?? '', tallies, span)}
        span={span}
        toList={index => listBar(ofFactories, index)}
      />
      <WebhookTable days={days} span={span} />
    </div>
  );
}

interface FactoryBars {
  readonly factory: string;
  readonly bars: readonly Bar[];
}

function toFactoryBars({ factory, health: { since, webhooks } }: FactoryDays, span: Span): FactoryBars {
  const tallies = webhooks.flatMap(webhook => webhook.tallies);
  return { factory, bars: toBars(since, tallies, span) };
}

/** Lists the deliveries of a bar: of several factories, those of the factory with the most. */
function listBar(all: readonly FactoryBars[], index: number): BarList {
  const found = all.flatMap(({ factory, bars }) =>
    bars.slice(index, index + 1).map(bar => ({ factory, bar })),
  );
  const { factory, bar } = found.reduce((a, b) => (countBar(b.bar) > countBar(a.bar) ? b : a));
  const query = { since: new Date(bar.fromMs).toISOString(), until: new Date(bar.toMs).toISOString() };
  return {
    to: { page: 'deliveries', factory, query },
    ...(all.length > 1 && { factory }),
  };
}

/** The first line of the page: whether all is well. */
export function Verdict({ sub, actions }: VerdictProperties) {
  const count = attentionCount.value;
  const isWell = attention.value.length === 0;
  const title =
    count > 0
      ? `${formatCount(count, 'thing')} ${count === 1 ? 'needs' : 'need'} attention`
      : isWell
        ? 'All is well'
        : 'Nothing else needs attention';
  return (
    <PageHeading
      isVerdict
      title={title}
      windowTitle="Overview"
      before={isWell && <Sign name="well" />}
      sub={sub}
      actions={actions}
    />
  );
}
