import { useState } from 'preact/hooks';
import type {
  FactoryHealth,
  ListedAutomation,
  ListedWebhook,
  ShownHealth,
  TalliedWebhook,
} from '../../api-answers.ts';
import { Spark } from '../../parts/charts.tsx';
import { ToggleChip } from '../../parts/chips.tsx';
import { Finder, LinkButton } from '../../parts/controls.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { State } from '../../parts/signs.tsx';
import { type Column, LinkTable } from '../../parts/tables.tsx';
import { Text, Time } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { currentLocation, readQuery, redirectTo } from '../../state/current-location.ts';
import { areSettled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time.ts';
import { useApi } from '../../state/use-api.ts';
import { describeBars, sum, toBars, toSparkBars } from '../../text/delivery-bars.ts';
import { formatMoment } from '../../text/format-time.ts';
import type { SignName } from '../../text/looks.ts';
import { getSenderName } from '../../text/senders.ts';

const listEveryMs = 30_000;
/** Names of automations that a row shows; of more, only the number. */
const namedMax = 2;

interface Row {
  readonly webhook: ListedWebhook;
  readonly tallied: TalliedWebhook | undefined;
  readonly condition: WebhookCondition;
  readonly listeners: readonly ListedAutomation[] | undefined;
}

export function WebhooksPage() {
  const { factory, mayManage } = useFactory();
  const { value, error, reload } = useApi('/factories/{factory}/webhooks', { factory }, listEveryMs);
  const health = useApi('/factories/{factory}/health', { factory }, listEveryMs);
  const automations = useApi('/factories/{factory}/automations', { factory }, listEveryMs);
  return (
    <div class="page">
      <PageHeading
        title="Webhooks"
        actions={
          mayManage && (
            <LinkButton
              look="primary"
              icon="plus"
              label="New webhook"
              to={{ page: 'new-webhook', factory }}
            />
          )
        }
      />
      {!value || !areSettled(health, automations) ? (
        <Waiting error={error} reload={reload} what="webhooks" />
      ) : value.webhooks.length === 0 ? (
        <Empty title="No webhooks yet">
          <p>
            A webhook is a URL that another system posts JSON to. Automations listen to it.{' '}
            {!mayManage && 'You need the manage permission to create one.'}
          </p>
        </Empty>
      ) : (
        <WebhookList
          webhooks={value.webhooks}
          health={health.value}
          automations={automations.value?.automations}
        />
      )}
    </div>
  );
}

interface ListProperties {
  readonly webhooks: readonly ListedWebhook[];
  /** What could not be read is left out of the rows. */
  readonly health: FactoryHealth | undefined;
  readonly automations: readonly ListedAutomation[] | undefined;
}

function WebhookList({ webhooks, health, automations }: ListProperties) {
  const [sought, setSought] = useState('');
  const byUid = new Map(health?.webhooks.map(each => [each.uid, each]));
  const rows = webhooks
    .map((webhook): Row => {
      const tallied = byUid.get(webhook.uid);
      const listeners = automations?.filter(({ triggers }) =>
        triggers.some(({ uid }) => uid === webhook.uid),
      );
      return { webhook, tallied, condition: conditionOf(webhook, tallied?.health), listeners };
    })
    .sort((a, b) => conditions.indexOf(a.condition) - conditions.indexOf(b.condition));
  const chosen = readQuery().health ?? '';
  const shown = rows.filter(
    ({ webhook, condition }) =>
      (chosen === '' || condition === chosen) && webhook.name.includes(sought.trim().toLowerCase()),
  );
  return (
    <>
      <div class="filters list-filters">
        <Finder label="Find a webhook" value={sought} onInput={setSought} />
        <ConditionChips rows={rows} chosen={chosen} />
      </div>
      {shown.length === 0 ? (
        <Empty title={`None of ${rows.length} webhooks matches.`} />
      ) : (
        <WebhookTable rows={shown} since={health?.since} />
      )}
    </>
  );
}

function ConditionChips({ rows, chosen }: { readonly rows: readonly Row[]; readonly chosen: string }) {
  const choose = (condition: string) => {
    const location = currentLocation.value;
    if (location.page === 'webhooks')
      redirectTo({ ...location, query: condition === '' ? {} : { health: condition } });
  };
  return (
    <>
      <ToggleChip label="All" on={false} count={rows.length} onToggle={() => choose('')} />
      {conditions.map(condition => {
        const count = rows.filter(row => row.condition === condition).length;
        if (condition === 'healthy' || (count === 0 && condition !== chosen)) return null;
        const { word, tone } = conditionLooks[condition];
        return (
          <ToggleChip
            key={condition}
            label={word}
            on={condition === chosen}
            count={count}
            tone={tone}
            onToggle={on => choose(on ? condition : '')}
          />
        );
      })}
    </>
  );
}

interface TableProperties {
  readonly rows: readonly Row[];
  /** When the first hour of the tallies begins. */
  readonly since: string | undefined;
}

function WebhookTable({ rows, since }: TableProperties) {
  const { factory } = useFactory();
  const hasFiles = rows.some(({ webhook }) => webhook.file !== null);
  const columns: readonly (Column<Row> | false)[] = [
    { head: 'Webhook', cell: ({ webhook }) => <WebhookLink factory={factory} webhook={webhook} /> },
    { head: 'Health', cell: ({ tallied, condition }) => tallied && <Condition condition={condition} /> },
    {
      ...{ head: 'Last event', class: 'no-phone' },
      cell: ({ tallied, condition }) => tallied && <LastEvent tallied={tallied} condition={condition} />,
    },
    {
      ...{ head: 'Used by', class: 'no-phone', look: 't2' },
      cell: ({ listeners }) => listeners && <Users listeners={listeners} />,
    },
    hasFiles && { head: 'Defined in', class: 'no-phone', look: 'id', cell: ({ webhook }) => webhook.file },
    {
      ...{ head: '24 hours', class: 'right no-phone' },
      cell: ({ tallied }) => tallied && since !== undefined && <LastDay tallied={tallied} since={since} />,
    },
  ];
  return <LinkTable class="tall" columns={columns} rows={rows} keyOf={({ webhook }) => webhook.uid} />;
}

function WebhookLink({ factory, webhook }: { readonly factory: string; readonly webhook: ListedWebhook }) {
  return (
    <a class="stretch flow" href={toHref({ page: 'webhook', factory, id: webhook.uid })}>
      <Monogram scheme={schemeOf(webhook)} name={webhook.name} size="m" />
      <span class="two-lines">
        <bdi class="name">{webhook.name}</bdi>
        <span class="t3 small">{getSenderName(webhook)}</span>
      </span>
    </a>
  );
}

function Condition({ condition }: { readonly condition: WebhookCondition }) {
  const { sign, word } = conditionLooks[condition];
  return <State sign={sign}>{word}</State>;
}

function LastDay({ tallied, since }: { readonly tallied: TalliedWebhook; readonly since: string }) {
  const bars = toBars(since, tallied.tallies, 'day');
  const accepted = sum(bars.map(({ kinds }) => kinds.accepted));
  return (
    <span class="flow numbered-spark" title={describeBars(bars)}>
      <Spark bars={toSparkBars(bars)} />
      <span class={accepted === 0 ? 't3' : ''}>
        {accepted.toLocaleString('en')}
        <span class="unseen"> accepted</span>
      </span>
    </span>
  );
}

function LastEvent({ tallied, condition }: { tallied: TalliedWebhook; condition: WebhookCondition }) {
  const { lastDelivery, disabledSince } = tallied;
  if (condition === 'disabled') {
    return (
      <span class="two-lines">
        <span class="t2">answers 404</span>
        {disabledSince !== undefined && (
          <span class="t3 small">
            since {formatMoment(Date.parse(disabledSince), Date.now(), timeZone.value)}
          </span>
        )}
      </span>
    );
  }
  if (!lastDelivery) return <span class="t3">none yet</span>;
  const isRejected = lastDelivery.outcome.startsWith('Rejected');
  return (
    <span class="two-lines">
      <span class={isRejected ? 'bad' : ''}>
        {isRejected && 'rejected · '}
        <Text text={lastDelivery.title} />
      </span>
      <span class="t3 small">
        <Time at={lastDelivery.at} />
      </span>
    </span>
  );
}

function Users({ listeners }: { readonly listeners: readonly ListedAutomation[] }) {
  if (listeners.length === 0) return <span class="t3">no automation yet</span>;
  const [first, ...others] = listeners.map(({ name }) => name);
  const names =
    listeners.length > namedMax ? `${first} and ${others.length} more` : [first, ...others].join(', ');
  return <bdi>{names}</bdi>;
}

/** How a webhook does, in one word, the worst first. */
const conditions = ['failing', 'quiet', 'healthy', 'waiting', 'disabled'] as const;

type WebhookCondition = (typeof conditions)[number];

const conditionLooks: Readonly<
  Record<
    WebhookCondition,
    { readonly word: string; readonly sign: SignName; readonly tone: 'bad' | 'warn' | '' }
  >
> = {
  failing: { word: 'Failing', sign: 'failed', tone: 'bad' },
  quiet: { word: 'Quiet', sign: 'quiet', tone: 'warn' },
  healthy: { word: 'Healthy', sign: 'done', tone: '' },
  waiting: { word: 'Waiting', sign: 'waiting', tone: '' },
  disabled: { word: 'Disabled', sign: 'disabled', tone: '' },
};

/** Only an enabled webhook has a health. Without its secret, it waits for that. */
function conditionOf(
  { enabled }: Pick<ListedWebhook, 'enabled'>,
  health: Pick<ShownHealth, 'state'> | null | undefined,
): WebhookCondition {
  if (!enabled) return 'disabled';
  if (!health || health.state === 'never seen') return 'waiting';
  return health.state;
}
