import { useEffect } from 'preact/hooks';
import type { Account } from './api-answers.ts';
import { ChoiceChip } from './parts/chips.tsx';
import { Key, Segments } from './parts/controls.tsx';
import { Icon, type IconName } from './parts/icons.tsx';
import { Menu } from './parts/menu.tsx';
import { Brand } from './parts/page-heading.tsx';
import { attentionCount } from './state/attention.ts';
import { goTo, windowTitle } from './state/current-location.ts';
import { openJump, openKeys, useKeys } from './state/keyboard.ts';
import { type FactoryLocation, type PageLocation, type PageName, toHref } from './state/page-location.ts';
import { signOut } from './state/session.ts';
import { switchTimeZone, timeZone } from './state/time.ts';
import { useAction } from './state/use-action.ts';

interface HeaderProperties {
  readonly account: Account;
  readonly location: PageLocation;
  /** The names of the factories to choose from. */
  readonly factories: readonly string[];
}

type PlaceIcon = Extract<IconName, 'overview' | 'webhook' | 'automation' | 'delivery' | 'run' | 'settings'>;

interface Place {
  readonly label: string;
  readonly icon: PlaceIcon;
  /** The second key after `g` that goes there. */
  readonly key: string;
  readonly pages: readonly PageName[];
  readonly to: (factory: string) => FactoryLocation;
}

const places: readonly Place[] = [
  place('Overview', 'overview', 'o', ['overview'], factory => ({ page: 'overview', factory })),
  place('Webhooks', 'webhook', 'w', ['webhooks', 'new-webhook', 'webhook'], factory => ({
    page: 'webhooks',
    factory,
  })),
  place('Automations', 'automation', 'a', ['automations', 'new-automation', 'automation'], factory => ({
    page: 'automations',
    factory,
  })),
  place('Deliveries', 'delivery', 'd', ['deliveries', 'delivery'], factory => ({
    page: 'deliveries',
    factory,
  })),
  place('Runs', 'run', 'r', ['runs', 'run'], factory => ({ page: 'runs', factory })),
  place('Settings', 'settings', 's', ['settings'], factory => ({ page: 'settings', factory, id: 'branch' })),
];

function place(
  label: string,
  icon: PlaceIcon,
  key: string,
  pages: readonly PageName[],
  to: Place['to'],
): Place {
  return { label, icon, key, pages, to };
}

/** The places of the dashboard, with the keys that go there. */
export function listPlaces(
  factory: string,
): readonly { label: string; icon: PlaceIcon; keys: string; href: string }[] {
  return places.map(({ label, icon, key, to }) => ({
    label,
    icon,
    keys: `g ${key}`,
    href: toHref(to(factory)),
  }));
}

export function Header({ account, location, factories }: HeaderProperties) {
  useCountedTitle();
  // The page of all factories has none; if there is only one, its pages are a click away.
  const only = factories.length === 1 ? factories[0] : undefined;
  const factory = 'factory' in location ? location.factory : only;
  return (
    <>
      <header class="top">
        <a class="brand" href={toHref({ page: 'home' })} aria-label="hookmill, overview">
          <Brand />
        </a>
        <span class="slash" aria-hidden="true">
          /
        </span>
        <FactorySwitch factory={factory} names={factories} />
        {factory !== undefined && <Navigation factory={factory} page={location.page} />}
        {factory !== undefined && <PlaceKeys factory={factory} />}
        <span class="push" />
        <JumpButton />
        <Segments
          class="no-phone"
          label="Times in"
          value={timeZone.value}
          options={[
            ['utc', 'UTC'],
            ['local', 'Local'],
          ]}
          onChange={zone => zone !== timeZone.value && switchTimeZone()}
        />
        <AccountMenu account={account} factory={factory} />
      </header>
      {factory !== undefined && <TabBar factory={factory} page={location.page} />}
    </>
  );
}

/** Stands for all factories. No factory has this name. */
const all = '*';

interface SwitchProperties {
  /** undefined: the page of all factories. */
  readonly factory: string | undefined;
  readonly names: readonly string[];
}

function FactorySwitch({ factory, names }: SwitchProperties) {
  useKeys({ 'g f': () => document.querySelector<HTMLElement>('.factory-switch button')?.click() });
  if (names.length < 2) return <bdi class="factory-name">{factory}</bdi>;
  return (
    <span class="factory-switch">
      <ChoiceChip
        label="Factory"
        value={factory ?? all}
        options={[
          { value: all, label: 'All factories' },
          ...names.map(name => ({ value: name, label: name })),
        ]}
        onChoose={name => goTo(name === all ? { page: 'home' } : { page: 'overview', factory: name })}
      />
    </span>
  );
}

interface NavigationProperties {
  readonly factory: string;
  readonly page: PageName;
}

function Navigation({ factory, page }: NavigationProperties) {
  return (
    <nav aria-label="Main" class="places">
      {places.map(({ label, pages, to }) => (
        <a key={label} href={toHref(to(factory))} aria-current={pages.includes(page) ? 'page' : undefined}>
          {label} {label === 'Overview' && <Attention />}
        </a>
      ))}
    </nav>
  );
}

/** What needs attention is counted before the name of the page: `(3) Runs · hookmill`. */
function useCountedTitle(): void {
  const count = attentionCount.value;
  const title = windowTitle.value;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title && `${title} · `}hookmill`;
  }, [count, title]);
}

function Attention() {
  const count = attentionCount.value;
  if (count === 0) return null;
  return (
    <span class="n">
      {count}
      <span class="unseen"> {count === 1 ? 'needs' : 'need'} attention</span>
    </span>
  );
}

/** The navigation of a phone. Settings are in the account menu there. */
function TabBar({ factory, page }: NavigationProperties) {
  return (
    <nav class="tabbar" aria-label="Main">
      {places
        .filter(({ label }) => label !== 'Settings')
        .map(({ label, icon, pages, to }) => (
          <a key={label} href={toHref(to(factory))} aria-current={pages.includes(page) ? 'page' : undefined}>
            <Icon name={icon} />
            {label}
            {label === 'Overview' && <Attention />}
          </a>
        ))}
    </nav>
  );
}

function PlaceKeys({ factory }: { readonly factory: string }) {
  useKeys({
    ...Object.fromEntries(places.map(({ key, to }) => [`g ${key}`, () => goTo(to(factory))])),
    t: switchTimeZone,
  });
  return null;
}

function JumpButton() {
  return (
    <button
      type="button"
      class="jump"
      aria-label="Jump to an ID or name"
      aria-keyshortcuts="/ Control+K"
      onClick={openJump}
    >
      <Icon name="search" />
      <span>Jump to an ID or name</span>
      <Key>/</Key>
    </button>
  );
}

function AccountMenu({
  account,
  factory,
}: {
  readonly account: Account;
  readonly factory: string | undefined;
}) {
  const leaving = useAction(signOut);
  const isUtc = timeZone.value === 'utc';
  return (
    <Menu
      class="avatar"
      label={`Account: ${account.name}, ${initials(account.name)}`}
      lead={
        <>
          <bdi>{account.name}</bdi>
          <br />
          {describeGrants(account)}
        </>
      }
      entries={[
        ...(factory === undefined
          ? []
          : [{ label: 'Settings', href: toHref({ page: 'settings', factory, id: 'branch' }) }]),
        { label: 'Sessions', href: toHref({ page: 'sessions' }) },
        {
          label: isUtc ? 'Show local times' : 'Show times in UTC',
          onChoose: switchTimeZone,
          aside: <Key>t</Key>,
        },
        {
          label: 'Keyboard',
          aside: <Key>?</Key>,
          onChoose: openKeys,
        },
        null,
        { label: 'Sign out', onChoose: () => leaving.run() },
      ]}
    >
      {/* Drawn, not written: the label says the name. */}
      <span data-initials={initials(account.name)} />
    </Menu>
  );
}

function describeGrants({ grants }: Account): string {
  return grants
    .map(({ factory, permission }) => `${permission} ${factory === null ? 'all factories' : factory}`)
    .join(', ');
}

function initials(name: string): string {
  const [first = '', second] = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return (first.charAt(0) + (second?.charAt(0) ?? first.charAt(1))).toUpperCase();
}
