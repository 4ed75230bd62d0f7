import type { ComponentChildren } from 'preact';
import { deliveryDaysKept } from '../../schema/delivery.ts';
import { readSortableIdTime } from '../../schema/ids.ts';
import { findNearest } from '../../schema/text/suggestion.ts';
import { callApi } from '../api-client.ts';
import { currentLocation } from '../state/current-location.ts';
import { useLoad } from '../state/loading.ts';
import { type FactoryLocation, findIdKind, locateId, toHref } from '../state/page-location.ts';
import { LinkButton } from './controls.tsx';
import { PageHeading } from './page-heading.tsx';
import { Code, ExactTime, Link } from './text.tsx';

interface Properties {
  readonly factory: string;
  readonly id: string;
}

/** Stands in for a page that there is not: what the ID is, and what may have been meant. */
export function NotFound() {
  const location = currentLocation.value;
  if (!('id' in location)) return <NoPage />;
  const { page, factory, id } = location;
  switch (page) {
    case 'delivery':
    case 'run':
      return <NoRow factory={factory} id={id} page={page} />;
    case 'webhook':
      return <NoWebhook factory={factory} id={id} />;
    case 'automation':
      return <NoAutomation factory={factory} id={id} />;
    default:
      return <NoPage />;
  }
}

function NoRow({ factory, id, page }: Properties & { readonly page: 'delivery' | 'run' }) {
  const atMs = readSortableIdTime(id);
  const what = page === 'delivery' ? 'Delivery' : 'Run';
  return (
    <Missing title={`${what} not found`} id={id}>
      {atMs === undefined ? (
        <p>This is no complete ID. A complete one can be pasted into the jump field.</p>
      ) : (
        <p>
          This is the ID of a {findIdKind(id)} of <ExactTime at={new Date(atMs).toISOString()} />. Deliveries
          and their runs are kept for at least {deliveryDaysKept} days.
        </p>
      )}
      <LinkButton
        label={`See the ${page === 'delivery' ? 'deliveries' : 'runs'} that are kept`}
        to={{ page: page === 'delivery' ? 'deliveries' : 'runs', factory }}
      />
    </Missing>
  );
}

function NoWebhook({ factory, id }: Properties) {
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
  );
  const webhooks = value?.webhooks ?? [];
  const uid = findNearest(
    id,
    webhooks.map(({ uid }) => uid),
  );
  const name = findNearest(
    id,
    webhooks.map(({ name }) => name),
  );
  const near = webhooks.find(webhook => webhook.uid === uid || webhook.name === name);
  return (
    <Missing title="Webhook not found" id={id}>
      <p>No webhook of this factory has this UID. It was deleted, or belongs to another factory.</p>
      <Nearest
        name={near?.name}
        to={{ page: 'webhook', factory, id: near?.uid ?? '' }}
        all={{ page: 'webhooks', factory }}
      />
    </Missing>
  );
}

function NoAutomation({ factory, id }: Properties) {
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  const names = value?.automations.map(({ name }) => name) ?? [];
  const near = findNearest(id, names);
  return (
    <Missing title="Automation not found" id={id}>
      <p>No automation of this factory has this name.</p>
      <Nearest
        name={near}
        to={{ page: 'automation', factory, id: near ?? '' }}
        all={{ page: 'automations', factory }}
      />
    </Missing>
  );
}

interface NearestProperties {
  readonly name: string | undefined;
  readonly to: FactoryLocation;
  readonly all: FactoryLocation;
}

function Nearest({ name, to, all }: NearestProperties) {
  return name === undefined ? (
    <LinkButton label={`See all ${all.page}`} to={all} />
  ) : (
    <p>
      Did you mean <Link to={to} text={name} />?
    </p>
  );
}

/** An address that is no page. It may have an ID in it. */
function NoPage() {
  const [factory = '', ...others] = location.hash.replace(/^#?\/?/, '').split('/');
  const id = others.find(part => findIdKind(part) !== undefined);
  const to = id === undefined ? undefined : locateId(id, factory);
  return (
    <div class="page reading">
      <PageHeading title="Page not found" />
      <div class="blank">
        <b>The dashboard has no page at this address.</b>
        {to ? (
          <p>
            It has the ID of {findIdKind(id ?? '') === 'alert' ? 'an alert' : `a ${findIdKind(id ?? '')}`}:{' '}
            <a href={toHref(to)}>
              <Code text={id ?? ''} />
            </a>
          </p>
        ) : (
          <p>
            <Link to={{ page: 'home' }} text="Go to the overview" />
          </p>
        )}
      </div>
    </div>
  );
}

function Missing({
  title,
  id,
  children,
}: Omit<Properties, 'factory'> & { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="page reading">
      <PageHeading title={title} sub={<Code text={id} />} />
      {children}
    </div>
  );
}
