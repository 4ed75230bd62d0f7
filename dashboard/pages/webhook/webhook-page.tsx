import { useRef, useState } from 'preact/hooks';
import type {
  ExplainedWhy,
  FactoryHealth,
  ListedAutomation,
  SentTest,
  ShownWebhook,
} from '../../api-answers.ts';
import { Tabs } from '../../parts/controls.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { DeliveryList } from '../../parts/log/delivery-list.tsx';
import type { Created } from '../../parts/setup-path.tsx';
import { takeCreated } from '../../state/created-webhook.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, readQuery } from '../../state/current-location.ts';
import { useTabKeys } from '../../state/keyboard.ts';
import { useListeners } from '../../state/loaded-objects.ts';
import { areSettled, type Loading } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { useInterval } from '../../state/time.ts';
import { useApi } from '../../state/use-api.ts';
import { hasNoRequest, isAccepted, useWhy } from '../../state/use-why.ts';
import { countBar, toBars } from '../../text/delivery-bars.ts';
import { AttentionList } from '../overview/attention-list.tsx';
import { DefinitionTab } from './definition-tab.tsx';
import { FiltersTab } from './filters-tab.tsx';
import { LeaveQuestion, SetUpTab } from './set-up-tab.tsx';
import type { Tallied } from './webhook-actions.tsx';
import { WebhookHeader } from './webhook-header.tsx';
import { CauseNotice, RequestStrip } from './why-notice.tsx';

const everyMs = 30_000;
/** Time between two looks while a delivery is not tallied yet, in ms. */
const tallyMs = 3_000;
const tabs = ['deliveries', 'set-up', 'filters', 'definition'] as const;
const labels = {
  deliveries: 'Deliveries',
  'set-up': 'Set-up',
  filters: 'Filters that use it',
  definition: 'Definition',
} as const;

type TabName = (typeof tabs)[number];

/** A webhook: whether it is well, and in tabs its deliveries, its set-up, the filters that use it and its definition. */
export function WebhookPage({ uid }: { readonly uid: string }) {
  // A secret that was made is kept nowhere else, and only while the page is shown.
  const [made, setMade] = useState(() => takeCreated(uid));
  const [isKept, setKept] = useState(!made?.revealed);
  const keep = () => setKept(true);
  return (
    <>
      {!isKept && <LeaveQuestion onLeave={keep} />}
      <LoadedWebhook
        uid={uid}
        created={made && { secret: made.revealed, onCopied: keep }}
        onRotated={() => {
          keep();
          setMade(undefined);
        }}
      />
    </>
  );
}

interface LoadedProperties extends Pick<Properties, 'created'> {
  readonly uid: string;
  /** Called when the secret is no longer the one that was made. */
  readonly onRotated: () => void;
}

function LoadedWebhook({ uid, created, onRotated }: LoadedProperties) {
  const { factory, reload: reloadFactory } = useFactory();
  const webhook = useApi('/factories/{factory}/webhooks/{uid}', { factory, uid }, everyMs);
  const health = useApi('/factories/{factory}/health', { factory, query: { webhook: uid } }, everyMs);
  const why = useWhy(uid, health.reload);
  const listeners = useListeners(uid);
  // The page appears whole: the cause above the tabs would move them.
  if (!webhook.value || !areSettled(health, why, listeners))
    return <Waiting error={webhook.error} reload={webhook.reload} what="the webhook" />;
  const change = (changed: ShownWebhook, isRotated = false) => {
    if (isRotated) onRotated();
    webhook.put(changed);
    health.reload();
    why.reload();
    // The status says whether the applied state is still as the files say.
    reloadFactory();
  };
  return (
    <WebhookContent
      {...{ webhook: webhook.value, health, why, listeners: listeners.value, created }}
      onChanged={change}
    />
  );
}

interface Properties {
  readonly webhook: ShownWebhook;
  readonly health: Loading<FactoryHealth>;
  readonly why: Loading<ExplainedWhy>;
  /** The automations that listen to it; undefined if they could not be read. */
  readonly listeners: readonly ListedAutomation[] | undefined;
  readonly created: Created | undefined;
  readonly onChanged: (webhook: ShownWebhook, isRotated?: boolean) => void;
}

function WebhookContent({ webhook, health, why, listeners, created, onChanged }: Properties) {
  const { factory } = useFactory();
  const { uid, credential } = webhook;
  const [lastTest, setLastTest] = useState<SentTest>();
  const shown = health.value?.webhooks[0];
  // Deliveries are tallied some seconds after they came: until then, the webhook is neither waiting nor healthy.
  const isLate = shown?.health?.state === 'never seen' && why.value?.last.some(isAccepted);
  useInterval(health.reload, isLate ? tallyMs : undefined);
  const tallied =
    shown && health.value && !isLate ? { since: health.value.since, webhook: shown } : undefined;
  const tab = useTab(uid, why.value && (hasNoRequest(why.value) || credential === 'not set'));
  const onTested = (sent: SentTest) => {
    setLastTest(sent);
    why.reload();
  };
  return (
    <div class="page reading">
      <WebhookHeader {...{ webhook, tallied, listeners: listeners ?? [], onChanged, onTested }} />
      {why.value && <CauseNotice {...{ webhook, why: why.value, listeners }} />}
      {why.value && (
        <AttentionList
          items={why.value.attention.map(item => ({ ...item, factory }))}
          isNamed={false}
          details={new Map()}
        />
      )}
      {why.value && !hasNoRequest(why.value) && <RequestStrip why={why.value} />}
      <WebhookTabs {...{ uid, tab, tallied, listeners }} />
      {tab === undefined && <Waiting error={why.error} reload={why.reload} what="the last request" />}
      {tab === 'deliveries' && <DeliveryList fixed={{ webhook: uid }} />}
      {tab === 'set-up' && (
        <SetUpTab
          {...{ webhook, why, lastTest, created, onChanged }}
          listeners={listeners ?? []}
          tallied={tallied?.webhook}
        />
      )}
      {tab === 'filters' && <FiltersTab webhook={webhook} listeners={listeners ?? []} />}
      {tab === 'definition' && <DefinitionTab webhook={webhook} />}
    </div>
  );
}

/**
 * The tab in the address. Without one, that is the set-up of a webhook that has it before it, also once the first request
 * has come; undefined until that is known.
 */
function useTab(uid: string, isSetUpFirst: boolean | undefined): TabName | undefined {
  const { factory } = useFactory();
  const isSetUp = useRef(isSetUpFirst);
  isSetUp.current ??= isSetUpFirst;
  const asked = readQuery().tab;
  const first = isSetUp.current === undefined ? undefined : isSetUp.current ? 'set-up' : 'deliveries';
  const tab = tabs.find(each => each === asked) ?? first;
  useTabKeys(tabs, tab ?? 'deliveries', next =>
    goTo({ page: 'webhook', factory, id: uid, query: { tab: next } }),
  );
  return tab;
}

interface TabsProperties extends Pick<Properties, 'listeners'> {
  readonly uid: string;
  readonly tab: TabName | undefined;
  readonly tallied: Tallied | undefined;
}

function WebhookTabs({ uid, tab, tallied, listeners }: TabsProperties) {
  const { factory } = useFactory();
  const deliveries =
    tallied &&
    toBars(tallied.since, tallied.webhook.tallies, 'day').reduce((sum, bar) => sum + countBar(bar), 0);
  const counts = { deliveries, filters: listeners?.length, 'set-up': undefined, definition: undefined };
  return (
    <Tabs
      label="Webhook"
      tabs={tabs.map(each => ({
        label: labels[each],
        href: toHref({ page: 'webhook', factory, id: uid, query: { tab: each } }),
        current: each === tab,
        count: counts[each],
      }))}
    />
  );
}
