import type { TalliedWebhook } from '../../api-answers.ts';
import { Spark } from '../../parts/charts.tsx';
import { Sec } from '../../parts/lists.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { State } from '../../parts/signs.tsx';
import { Moment, Text } from '../../parts/text.tsx';
import type { FactoryDays } from '../../state/loaded-objects.ts';
import { toHref } from '../../state/page-location.ts';
import { type Span, spans, sumHours, sumLast, toBars, toSparkBars } from '../../text/delivery-bars.ts';
import { lookOfHealth } from '../../text/looks.ts';

interface Properties {
  readonly days: readonly FactoryDays[];
  readonly span: Span;
}

interface RowProperties {
  readonly days: FactoryDays;
  readonly webhook: TalliedWebhook;
  readonly span: Span;
  /** Whether the row needs the name of its factory. */
  readonly isNamed: boolean;
}

/** Webhooks that are listed. The page of webhooks has them all. */
const shownMax = 50;
const urgency = { failing: 0, quiet: 1, healthy: 2, 'never seen': 2 } as const;

/** The webhooks, unhealthy ones first, then by name. */
export function WebhookTable({ days, span }: Properties) {
  const [only, ...others] = days;
  const rows = days
    .flatMap(each => each.health.webhooks.map(webhook => ({ days: each, webhook })))
    .sort(
      ({ webhook: a }, { webhook: b }) =>
        urgency[a.health?.state ?? 'healthy'] - urgency[b.health?.state ?? 'healthy'] ||
        a.name.localeCompare(b.name),
    );
  return (
    <section>
      <Sec title="Webhooks">
        {only && others.length === 0 && (
          <a class="link push" href={toHref({ page: 'webhooks', factory: only.factory })}>
            {rows.length > shownMax ? `All ${rows.length} webhooks` : 'All webhooks'}
          </a>
        )}
      </Sec>
      <table class="edge">
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">Health</th>
            <th scope="col" class="no-phone">
              Last event
            </th>
            <th scope="col" class="no-phone right">
              Accepted
            </th>
            <th scope="col" class="no-phone right">
              Rejected
            </th>
            <th scope="col" class="right">
              {spans[span].label}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shownMax).map(row => (
            <WebhookRow key={row.webhook.uid} {...row} span={span} isNamed={others.length > 0} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function WebhookRow({ days: { factory, health, webhooks }, webhook, span, isNamed }: RowProperties) {
  const { uid, name, tallies } = webhook;
  const state = webhook.health?.state ?? null;
  // The health of the first delivery is judged some seconds later.
  const [sign, word] = lookOfHealth(state === 'never seen' && !isWaiting(webhook) ? 'healthy' : state);
  const listed = webhooks.find(each => each.uid === uid);
  const { hours } = spans[span];
  const rejected = sumLast(sumHours(tallies, 'rejected'), hours);
  return (
    <tr class="go">
      <td>
        <a class="stretch hook name" href={toHref({ page: 'webhook', factory, id: uid })}>
          <Monogram scheme={listed ? schemeOf(listed) : null} name={name} />
          <span>
            {isNamed && (
              <span class="t3">
                <bdi>{factory}</bdi> /{' '}
              </span>
            )}
            <bdi>{name}</bdi>
          </span>
        </a>
      </td>
      <td>
        <State sign={sign}>{isWaiting(webhook) ? 'Waiting' : word}</State>
      </td>
      <td class="no-phone">
        <LastEvent webhook={webhook} />
      </td>
      <td class="no-phone right">{sumLast(sumHours(tallies, 'accepted'), hours).toLocaleString('en')}</td>
      <td class={`no-phone right ${rejected === 0 ? 't3' : state === 'failing' ? 'bad' : ''}`}>
        {rejected.toLocaleString('en')}
      </td>
      <td>
        <span class="spark-cell">
          <Spark bars={toSparkBars(toBars(health.since, tallies, span))} />
        </span>
      </td>
    </tr>
  );
}

/** Whether an enabled webhook has accepted nothing so far. */
export function isWaiting({ health, lastDelivery }: TalliedWebhook): boolean {
  return health?.state === 'never seen' && lastDelivery?.outcome !== 'Accepted';
}

function LastEvent({ webhook: { lastDelivery } }: { readonly webhook: TalliedWebhook }) {
  if (!lastDelivery) return <span class="t3">none yet</span>;
  const { outcome, title, at } = lastDelivery;
  const isRejected = outcome.startsWith('Rejected');
  return (
    <span class="flow">
      <span class={`cut ${isRejected ? 'bad' : 't2'}`}>
        {isRejected && 'rejected · '}
        <Text text={title} />
      </span>{' '}
      <span class="t3 small">
        <Moment at={at} />
      </span>
    </span>
  );
}
