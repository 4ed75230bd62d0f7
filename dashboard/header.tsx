import type { Account } from './api-types.ts';
import { Brand } from './parts/page-heading.tsx';
import { Pill } from './parts/pills.tsx';
import { goTo } from './state/current-location.ts';
import { type PageLocation, type PageName, toHref } from './state/page-location.ts';
import { signOut } from './state/session.ts';
import { switchTimeZone, timeZone } from './state/time-zone.ts';
import { useAction } from './state/use-action.ts';

interface HeaderProperties {
  readonly account: Account;
  readonly location: PageLocation;
  /** The names of the factories to choose from. */
  readonly factories: readonly string[];
}

export function Header({ account, location, factories }: HeaderProperties) {
  // The home page shows all factories; if there is only one, its pages are a click away.
  const only = factories.length === 1 ? factories[0] : undefined;
  const factory = 'factory' in location ? location.factory : only;
  return (
    <header class="top">
      <a class="brand-link" href={toHref({ page: 'home' })}>
        <Brand />
      </a>
      {factory !== undefined && <FactorySwitch factory={factory} names={factories} />}
      {factory !== undefined && <Navigation factory={factory} page={location.page} />}
      <AccountMenu account={account} />
    </header>
  );
}

interface SwitchProperties {
  readonly factory: string;
  readonly names: readonly string[];
}

function FactorySwitch({ factory, names }: SwitchProperties) {
  if (names.length < 2) return <span class="factory-name">{factory}</span>;
  return (
    <select
      class="factory-name"
      aria-label="Factory"
      value={factory}
      onChange={event => goTo({ page: 'automations', factory: event.currentTarget.value })}
    >
      {names.map(name => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Navigation({ factory, page }: { readonly factory: string; readonly page: PageName }) {
  const current = places.find(([place]) => place === page)?.[0] ?? sections[page];
  return (
    <nav class="navigation" aria-label="Main">
      {places.map(([place, label]) => (
        <a
          key={place}
          href={toHref({ page: place, factory })}
          aria-current={place === current ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

const places = [
  ['automations', 'Automations'],
  ['deliveries', 'Deliveries'],
  ['runs', 'Runs'],
  ['status', 'Status'],
] as const;
/** The places to which pages belong that have no link there. */
const sections: Partial<Record<PageName, PageName>> = {
  ...{ 'new-automation': 'automations', automation: 'automations', 'edit-automation': 'automations' },
  ...{ webhooks: 'automations', 'new-webhook': 'automations', webhook: 'automations' },
  ...{ delivery: 'deliveries', run: 'runs', audit: 'status' },
};

/** Switches all times of the page between UTC and the time zone of the browser. */
function TimeZoneSwitch() {
  const isUtc = timeZone.value === 'utc';
  return (
    <button
      type="button"
      class="plain"
      aria-pressed={isUtc}
      title={isUtc ? 'Times are in UTC. Show local times' : 'Times are local. Show UTC'}
      onClick={switchTimeZone}
    >
      UTC
    </button>
  );
}

function AccountMenu({ account }: { readonly account: Account }) {
  const leaving = useAction(signOut);
  const mayManage = account.grants.some(({ permission }) => permission === 'manage');
  return (
    <div class="account">
      <span
        class="who"
        title={
          account.kind === 'token'
            ? 'The API token that you are signed in with'
            : 'The person who is signed in'
        }
      >
        <bdi>{account.name}</bdi>
      </span>
      <Pill tone="quiet">{mayManage ? 'manage' : 'read'}</Pill>
      <TimeZoneSwitch />
      <a href={toHref({ page: 'sessions' })}>Sessions</a>
      <button type="button" class="plain" disabled={leaving.busy} onClick={() => leaving.run()}>
        Sign out
      </button>
    </div>
  );
}
