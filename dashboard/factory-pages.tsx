import { callApi } from './api-client.ts';
import { AutomationPage } from './pages/automation/automation-page.tsx';
import { EditAutomationPage, NewAutomationPage } from './pages/automation-form/automation-form.tsx';
import { AutomationsPage } from './pages/automations/automations-page.tsx';
import { DeliveryPage } from './pages/delivery/delivery-page.tsx';
import { NewWebhookPage } from './pages/new-webhook/new-webhook-page.tsx';
import { RunPage } from './pages/run/run-page.tsx';
import { StatusPage } from './pages/status/status-page.tsx';
import { WebhookPage } from './pages/webhook/webhook-page.tsx';
import { WebhooksPage } from './pages/webhooks/webhooks-page.tsx';
import { ProblemNotice, Waiting } from './parts/problem-notice.tsx';
import { Text } from './parts/text.tsx';
import { Time } from './parts/time.tsx';
import { NothingHere } from './signed-in-view.tsx';
import { FactoryContext, factoryView, useFactory } from './state/current-factory.ts';
import { hrefOf, type Place } from './state/page-location.ts';
import { useInterval } from './state/use-interval.ts';
import { useLoad } from './state/use-load.ts';

const statusEveryMs = 30_000;

/** Reads what the factory is and what may be done there; every page of it begins with that. */
export function FactoryPages({ factory, place }: { readonly factory: string; readonly place: Place }) {
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/status', { factory, signal }),
    [factory],
  );
  useInterval(reload, statusEveryMs);
  if (!value) return <Waiting error={error} reload={reload} what="the factory" />;
  return (
    <FactoryContext value={factoryView(value, reload)}>
      {/* What is shown was read before. */}
      <ProblemNotice error={error} retry={reload} />
      {place.page !== 'status' && <Warnings />}
      <CurrentPage place={place} />
    </FactoryContext>
  );
}

function CurrentPage({ place }: { readonly place: Place }) {
  switch (place.page) {
    case 'automations':
      return <AutomationsPage />;
    case 'new-automation':
      return <NewAutomationPage />;
    case 'automation':
      return <AutomationPage key={place.id} name={place.id} />;
    case 'edit-automation':
      return <EditAutomationPage key={place.id} name={place.id} />;
    case 'webhooks':
      return <WebhooksPage />;
    case 'new-webhook':
      return <NewWebhookPage />;
    case 'webhook':
      return <WebhookPage key={place.id} uid={place.id} />;
    case 'delivery':
      return <DeliveryPage key={place.id} id={place.id} />;
    case 'run':
      return <RunPage key={place.id} id={place.id} />;
    case 'status':
      return <StatusPage />;
    case 'home':
    case 'unknown':
      return <NothingHere />;
  }
}

/** What is wrong with the factory as a whole, on each of its pages. */
function Warnings() {
  const { factory, status } = useFactory();
  const { reconcile, problem } = status;
  if (!problem && !reconcile?.failingSince) return null;
  return (
    <p class="notice bad">
      {problem ? (
        <>
          The newest applied state is not served: <Text text={problem.message} />.{' '}
        </>
      ) : (
        <>
          Reconciling has failed since <Time at={reconcile?.failingSince ?? ''} />. The last good state is in
          force.{' '}
        </>
      )}
      <a href={hrefOf({ page: 'status', factory })}>See the status</a>
    </p>
  );
}
