import type { Account } from './api-types.ts';
import { Brand } from './parts/brand.tsx';
import { Pill } from './parts/pill.tsx';
import { goTo } from './state/current-location.ts';
import { type PageLocation, type PageName, toHref } from './state/page-location.ts';
import { signOut } from './state/session.ts';
import { useAction } from './state/use-action.ts';

interface HeaderProperties {
  readonly account: Account;
  readonly location: PageLocation;
  /** The names of the factories to choose from. */
  readonly factories: readonly string[];
}

export function Header({ account, location, factories }: HeaderProperties) {
  const factory = 'factory' in location ? location.factory : undefined;
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
  const onStatus = page === 'status';
  return (
    <nav class="navigation" aria-label="Main">
      <a href={toHref({ page: 'automations', factory })} aria-current={onStatus ? undefined : 'page'}>
        Automations
      </a>
      <a href={toHref({ page: 'status', factory })} aria-current={onStatus ? 'page' : undefined}>
        Status
      </a>
    </nav>
  );
}

function AccountMenu({ account }: { readonly account: Account }) {
  const leaving = useAction(signOut);
  return (
    <div class="account">
      <span class="who" title="The API token that you are signed in with">
        <bdi>{account.token}</bdi>
      </span>
      <Pill tone="quiet">{account.permission}</Pill>
      <button type="button" class="plain" disabled={leaving.busy} onClick={() => leaving.run()}>
        Sign out
      </button>
    </div>
  );
}
