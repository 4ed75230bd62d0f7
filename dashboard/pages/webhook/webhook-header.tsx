import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import { ApiFailure } from '../../api-failure.ts';
import type { SentTest, ShownWebhook } from '../../api-types.ts';
import { Question } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { IngressUrl } from '../../parts/ingress-url.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { State } from '../../parts/signs.tsx';
import { Spark } from '../../parts/spark.tsx';
import { Text } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useSchemes } from '../../state/loaded-objects.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time-zone.ts';
import { useAction } from '../../state/use-action.ts';
import { toBars, toSparkBars } from '../../text/delivery-bars.ts';
import { formatMoment } from '../../text/format-time.ts';
import { lookOfHealth } from '../../text/looks.ts';
import { describeSender } from '../../text/sender-labels.ts';
import { EnableButton, type Tallied, WebhookMenu } from './webhook-actions.tsx';

interface Properties {
  readonly webhook: ShownWebhook;
  /** Undefined while it is loaded. */
  readonly tallied: Tallied | undefined;
  readonly onChanged: (webhook: ShownWebhook) => void;
  readonly onTested: (sent: SentTest) => void;
}

/** Who delivers to a webhook and whether it is well, its URL, its last 24 hours, and what can be done with it. */
export function WebhookHeader({ webhook, tallied, onChanged, onTested }: Properties) {
  const { factory, mayManage } = useFactory();
  const schemes = useSchemes().value;
  const test = useTest(webhook, onTested);
  return (
    <>
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading
        title={webhook.name}
        mark={<Monogram scheme={schemeOf(webhook)} name={webhook.name} size="l" />}
        sub={
          <>
            <span>{describeSender(webhook, schemes)}</span>
            <WebhookState webhook={webhook} tallied={tallied} />
          </>
        }
        actions={
          <>
            {mayManage && !webhook.enabled && <EnableButton webhook={webhook} onChanged={onChanged} />}
            {mayManage && webhook.enabled && webhook.credential === 'set' && (
              <button type="button" class="btn" aria-disabled={test.busy} onClick={() => test.send()}>
                <Icon name="send" />
                {test.busy ? 'Sending…' : 'Send test'}
              </button>
            )}
            <WebhookMenu webhook={webhook} tallied={tallied} onChanged={onChanged} />
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

/** Sends a test through the ingress. `shown` is what came of it, if it is not simply accepted. */
function useTest({ uid, name }: ShownWebhook, onTested: (sent: SentTest) => void) {
  const { factory } = useFactory();
  const [refused, setRefused] = useState<SentTest>();
  const [warning, setWarning] = useState<string>();
  const post = async (mayStartRuns: boolean) => {
    setRefused(undefined);
    const path = '/factories/{factory}/webhooks/{uid}/test';
    const sent = await callApi('post', path, { factory, uid, body: { mayStartRuns } });
    onTested(sent);
    const { deliveryId, status, tookMs, runs } = sent;
    if (sent.outcome !== 'Accepted') return setRefused(sent);
    const open = deliveryId && { label: 'Open', href: toHref({ page: 'delivery', factory, id: deliveryId }) };
    const started = runs > 0 ? `, and started ${runs === 1 ? '1 run' : `${runs} runs`}` : '';
    announce(
      `${name} accepted the test: ${status} after ${Math.round(tookMs)} ms${started}`,
      open || undefined,
    );
  };
  const action = useAction(async () => {
    try {
      await post(false);
    } catch (error) {
      const problem = error instanceof ApiFailure ? error.problem : undefined;
      if (problem?.code !== 'test-would-start') throw error;
      setWarning(problem.detail ?? problem.title);
    }
  });
  const shown = (
    <>
      <ProblemNotice error={action.error} />
      {refused && (
        <Notice
          tone="bad"
          isAlert
          cause={`The test was refused with ${refused.status}.`}
          more={refused.reason !== null && <Text text={refused.reason} />}
        >
          {refused.remedy !== null && <Text text={refused.remedy} />}
        </Notice>
      )}
      {warning !== undefined && (
        <Question
          title="The test starts runs"
          keep="Do not send it"
          act="Send it anyway"
          acting="Sending…"
          onAct={() => post(true)}
          onClose={() => setWarning(undefined)}
        >
          <p>
            <Text text={warning.replace(/;.*/, '.')} />
          </p>
        </Question>
      )}
    </>
  );
  return { busy: action.busy, send: action.run, shown };
}
