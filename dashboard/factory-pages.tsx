import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ShownStatus } from './api-answers.ts';
import { AutomationsPage } from './pages/automations/automations-page.tsx';
import { DeliveriesPage } from './pages/deliveries/deliveries-page.tsx';
import { NewWebhookPage } from './pages/new-webhook/new-webhook-page.tsx';
import { OverviewPage } from './pages/overview/overview-page.tsx';
import { RunPage } from './pages/run/run-page.tsx';
import { RunsPage } from './pages/runs/runs-page.tsx';
import { SettingsPage } from './pages/settings/settings-page.tsx';
import { WebhookPage } from './pages/webhook/webhook-page.tsx';
import { WebhooksPage } from './pages/webhooks/webhooks-page.tsx';
import { LinkButton } from './parts/controls.tsx';
import { Waiting } from './parts/lists.tsx';
import { Notice } from './parts/notice.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { Text, Time } from './parts/text.tsx';
import { factoryStatus } from './state/attention.ts';
import { type CurrentFactory, FactoryContext } from './state/current-factory.ts';
import { useLoad } from './state/loading.ts';
import type { FactoryLocation } from './state/page-location.ts';
import { useApi } from './state/use-api.ts';
import { sayAlert, toSentence } from './text/sentences.ts';

// The editor is larger than all other pages together.
const AutomationPage = lazy(
  async () => (await import('./pages/automation/automation-page.tsx')).AutomationPage,
  'the editor',
);
const NewAutomationPage = lazy(
  async () => (await import('./pages/automation/automation-page.tsx')).NewAutomationPage,
  'the editor',
);

const statusEveryMs = 30_000;

/** Reads the status of the factory, which every page needs, and shows the page of the location. */
export function FactoryPages({ location }: { readonly location: FactoryLocation }) {
  const { factory } = location;
  const { value, error, reload } = useApi('/factories/{factory}/status', { factory }, statusEveryMs);
  useEffect(() => {
    factoryStatus.value = value;
  }, [value]);
  if (!value) return <Waiting error={error} reload={reload} what="the factory" />;
  return (
    <FactoryContext value={toCurrentFactory(value, reload)}>
      <ProblemNotice error={error} retry={reload} />
      {location.page !== 'settings' && location.page !== 'overview' && <FactoryWarning status={value} />}
      <CurrentPage location={location} status={value} />
    </FactoryContext>
  );
}

function toCurrentFactory(status: ShownStatus, reload: () => void): CurrentFactory {
  const { factory, permission, managedBy, revision } = status;
  return {
    factory,
    mayManage: permission === 'manage',
    managedHere: managedBy === 'dashboard' || managedBy === null,
    followsBranch: managedBy === 'repository',
    revision,
    reload,
  };
}

interface PageProperties {
  readonly location: FactoryLocation;
  readonly status: ShownStatus;
}

function CurrentPage({ location, status }: PageProperties): VNode {
  switch (location.page) {
    case 'automations':
      return <AutomationsPage />;
    case 'new-automation':
      return <NewAutomationPage query={location.query} />;
    case 'automation':
      return <AutomationPage key={location.id} name={location.id} />;
    case 'webhooks':
      return <WebhooksPage />;
    case 'new-webhook':
      return <NewWebhookPage />;
    case 'webhook':
      return <WebhookPage key={location.id} uid={location.id} />;
    // The same component, so that the list stays as it is when a delivery is chosen.
    case 'deliveries':
      return <DeliveriesPage />;
    case 'delivery':
      return <DeliveriesPage id={location.id} />;
    case 'runs':
      return <RunsPage />;
    case 'run':
      return <RunPage key={location.id} id={location.id} />;
    case 'overview':
      return <OverviewPage status={status} />;
    case 'settings':
      return <SettingsPage section={location.id} status={status} />;
  }
}

/** Shows a problem of the whole factory at the top of each of its pages. */
function FactoryWarning({ status }: { readonly status: ShownStatus }) {
  const { factory, attention } = status;
  const found = attention.find(({ type }) => type === 'state.unserved' || type === 'reconcile.failing');
  if (!found) return null;
  return (
    <Notice
      tone="bad"
      sign="branch"
      cause={
        <>
          {sayAlert(found)}
          {found.since !== null && (
            <>
              {' '}
              since <Time at={found.since} />
            </>
          )}
          . The last good state is still used. <Text text={toSentence(found.reason)} />
        </>
      }
      action={
        <LinkButton look="small" label="See the branch" to={{ page: 'settings', factory, id: 'branch' }} />
      }
    />
  );
}

/** A component whose code is loaded when it is first shown. */
function lazy<P extends object>(load: () => Promise<ComponentType<P>>, what: string): ComponentType<P> {
  return function Lazy(properties: P) {
    const { value: Loaded, error, reload } = useLoad(load, []);
    return Loaded ? <Loaded {...properties} /> : <Waiting error={error} reload={reload} what={what} />;
  };
}
