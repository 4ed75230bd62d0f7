import type { ListedAutomation, SentTest, ShownWebhook } from '../../api-answers.ts';
import { Spark } from '../../parts/charts.tsx';
import { CopyableLine, CopyButton } from '../../parts/copyable.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { useSendTest } from '../../parts/send-test.tsx';
import { State } from '../../parts/signs.tsx';
import { Moment } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time.ts';
import { toBars, toSparkBars } from '../../text/delivery-bars.ts';
import { formatMoment } from '../../text/format-time.ts';
import { escapeInvisible } from '../../text/format-values.ts';
import { lookOfHealth } from '../../text/looks.ts';
import { getSenderLine } from '../../text/senders.ts';
import { EnableButton, type Tallied, WebhookMenu } from './webhook-actions.tsx';

interface Properties {
  readonly webhook: ShownWebhook;
  /** Undefined while it is loaded. */
  readonly tallied: Tallied | undefined;
  readonly onChanged: (webhook: ShownWebhook, isRotated?: boolean) => void;
  /** The automations that listen to it. */
  readonly listeners: readonly ListedAutomation[];
  readonly onTested: (sent: SentTest) => void;
}

/** Who delivers to a webhook and whether it is well, its URL, its last 24 hours, and what can be done with it. */
export function WebhookHeader({ webhook, tallied, listeners, onChanged, onTested }: Properties) {
  const { factory, mayManage } = useFactory();
  const test = useSendTest(webhook, onTested);
  return (
    <>
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading
        title={webhook.name}
        mark={<Monogram scheme={schemeOf(webhook)} name={webhook.name} size="l" />}
        sub={
          <>
            <span>{getSenderLine(webhook)}</span>
            <WebhookState webhook={webhook} tallied={tallied} />
            {webhook.createdAt !== null && (
              <span>
                created <Moment at={webhook.createdAt} />
              </span>
            )}
          </>
        }
        actions={
          <>
            {mayManage && !webhook.enabled && <EnableButton webhook={webhook} onChanged={onChanged} />}
            {test.button}
            <WebhookMenu {...{ webhook, tallied, listeners, onChanged }} />
          </>
        }
      />
      <div class="urlline">
        <IngressUrl url={webhook.url} />
        {tallied && <LastDay webhook={webhook} tallied={tallied} />}
      </div>
      {test.shown}
    </>
  );
}

function WebhookState({ webhook, tallied }: Pick<Properties, 'webhook' | 'tallied'>) {
  const since = (at: string | null | undefined) =>
    at == null ? '' : ` since ${formatMoment(Date.parse(at), Date.now(), timeZone.value)}`;
  if (!webhook.enabled) {
    return <State sign="disabled">Disabled, answers 404{since(tallied?.webhook.disabledSince)}</State>;
  }
  if (webhook.credential === 'not set') return <State sign="turn">Needs its secret</State>;
  const health = tallied?.webhook.health;
  if (!health) return null;
  const [sign, word] = lookOfHealth(health.state);
  return (
    <State sign={sign}>
      {word}
      {since(health.since)}
    </State>
  );
}

/** The last 24 hours: bars and two numbers. They open the deliveries. */
function LastDay({ webhook, tallied }: { readonly webhook: ShownWebhook; readonly tallied: Tallied }) {
  const { factory } = useFactory();
  const bars = toBars(tallied.since, tallied.webhook.tallies, 'day');
  const count = (kind: 'accepted' | 'rejected') => bars.reduce((sum, { kinds }) => sum + kinds[kind], 0);
  if (tallied.webhook.tallies.length === 0) return null;
  const href = toHref({ page: 'deliveries', factory, query: { webhook: webhook.name, since: '24h' } });
  return (
    <a class="flow no-phone" href={href} title="The last 24 hours, by hour">
      <Spark bars={toSparkBars(bars)} width={140} height={28} />
      <span class="t3 small">
        <span class="nowrap">{count('accepted').toLocaleString('en')} accepted</span>
        <br />
        <span class={`nowrap ${tallied.webhook.health?.state === 'failing' ? 'bad' : ''}`}>
          {count('rejected').toLocaleString('en')} rejected
        </span>
      </span>
    </a>
  );
}

const secretPlace = '{token}';

/** The ingress URL of a webhook. What stands for its secret is marked, and Copy says that it is missing. */
function IngressUrl({ url }: { readonly url: string }) {
  if (!url.includes(secretPlace)) return <CopyableLine text={url} what="ingress URL" />;
  return (
    <div class="copyline">
      <code>
        {escapeInvisible(url.replace(secretPlace, ''))}
        <span class="tag">the secret</span>
      </code>
      <CopyButton text={url} what="URL without its secret" shown="Copy without the secret" />
    </div>
  );
}
