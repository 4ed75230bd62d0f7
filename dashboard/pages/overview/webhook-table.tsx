import type { DeliveryKind } from '../../../schema/delivery.ts';
import type { TalliedWebhook } from '../../api-answers.ts';
import { Spark } from '../../parts/charts.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { State } from '../../parts/signs.tsx';
import { type Column, Count, LinkTable, Sec } from '../../parts/tables.tsx';
import { Moment, Text } from '../../parts/text.tsx';
import type { FactoryDays } from '../../state/loaded-objects.ts';
import { toHref } from '../../state/page-location.ts';
import { type Span, spans, sumHours, sumLast, toBars, toSparkBars } from '../../text/delivery-bars.ts';
import { lookOfHealth } from '../../text/looks.ts';

interface Row {
  readonly days: FactoryDays;
  readonly webhook: TalliedWebhook;
}

/** Webhooks that are listed. The page of webhooks has them all. */
const shownMax = 50;
const urgency = { failing: 0, quiet: 1, healthy: 2, 'never seen': 2 } as const;

/** The webhooks, unhealthy ones first, then by name. */
export function WebhookTable({ days, span }: { readonly days: readonly FactoryDays[]; readonly span: Span }) {
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
      <LinkTable
        columns={listColumns(span, others.length > 0)}
        rows={rows.slice(0, shownMax)}
        keyOf={({ webhook }) => webhook.uid}
      />
    </section>
  );
}

/** `isNamed`: each webhook needs the name of its factory. */
function listColumns(span: Span, isNamed: boolean): readonly Column<Row>[] {
  const count = ({ webhook }: Row, kind: DeliveryKind) =>
    sumLast(sumHours(webhook.tallies, kind), spans[span].hours);
  return [
    { head: 'Webhook', cell: row => <WebhookLink {...row} isNamed={isNamed} /> },
    { head: 'Health', cell: ({ webhook }) => <Health webhook={webhook} /> },
    { head: 'Last event', class: 'no-phone', cell: ({ webhook }) => <LastEvent webhook={webhook} /> },
    {
      ...{ head: 'Accepted', class: 'no-phone right' },
      cell: row => count(row, 'accepted').toLocaleString('en'),
    },
    {
      ...{ head: 'Rejected', class: 'no-phone right' },
      cell: row => (
        <Count count={count(row, 'rejected')} tone={row.webhook.health?.state === 'failing' ? 'bad' : ''} />
      ),
    },
    {
      ...{ head: spans[span].label, class: 'right' },
      cell: ({ days, webhook }) => (
        <Spark bars={toSparkBars(toBars(days.health.since, webhook.tallies, span))} />
      ),
    },
  ];
}

function Health({ webhook }: Pick<Row, 'webhook'>) {
  if (isWaiting(webhook)) return <State sign="waiting">Waiting</State>;
  const state = webhook.health?.state ?? null;
  // The health of the first delivery is judged some seconds later.
  const [sign, word] = lookOfHealth(state === 'never seen' ? 'healthy' : state);
  return <State sign={sign}>{word}</State>;
}

function WebhookLink({ days, webhook: { uid, name }, isNamed }: Row & { readonly isNamed: boolean }) {
  const { factory, webhooks } = days;
  const listed = webhooks.find(each => each.uid === uid);
  return (
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
