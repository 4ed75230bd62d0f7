import { callApi } from './api-client.ts';
import type { Identity } from './api-types.ts';
import { FactoryPages } from './factory-pages.tsx';
import { HomePage } from './pages/home/home-page.tsx';
import { Brand } from './parts/brand.tsx';
import { PageHeading } from './parts/page-heading.tsx';
import { Pill } from './parts/pill.tsx';
import { Empty } from './parts/problem-notice.tsx';
import { announcement } from './state/announcements.ts';
import { go, place } from './state/current-location.ts';
import { hrefOf, type Page } from './state/page-location.ts';
import { signOut } from './state/session.ts';
import { useAction } from './state/use-action.ts';
import { useLoad } from './state/use-load.ts';

/** What is around every page of somebody who is signed in. */
export function Shell({ identity }: { readonly identity: Identity }) {
  const factories = useLoad(signal => callApi('get', '/factories', { signal }), []);
  const at = place.value;
  const factory = 'factory' in at ? at.factory : undefined;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the page
      </button>
      <header class="top">
        <a class="brand-link" href={hrefOf({ page: 'home' })}>
          <Brand />
        </a>
        <FactorySwitch
          factory={factory}
          names={factories.value?.factories.map(known => known.factory) ?? []}
        />
        {factory !== undefined && <Navigation factory={factory} page={at.page} />}
        <Account identity={identity} />
      </header>
      <main id="main" tabIndex={-1}>
        {factory !== undefined ? (
          <FactoryPages key={factory} factory={factory} place={at} />
        ) : at.page === 'home' ? (
          <HomePage identity={identity} factories={factories} />
        ) : (
          <NothingHere />
        )}
      </main>
    </>
  );
}

function FactorySwitch({
  factory,
  names,
}: {
  readonly factory: string | undefined;
  readonly names: readonly string[];
}) {
  if (factory === undefined) return null;
  if (names.length < 2) return <span class="factory-name">{factory}</span>;
  return (
    <select
      class="factory-name"
      aria-label="Factory"
      value={factory}
      onChange={event => go({ page: 'automations', factory: event.currentTarget.value })}
    >
      {names.map(name => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Navigation({ factory, page }: { readonly factory: string; readonly page: Page }) {
  const current = page === 'status' ? 'status' : 'automations';
  return (
    <nav class="navigation" aria-label="Factory">
      <a
        href={hrefOf({ page: 'automations', factory })}
        aria-current={current === 'automations' ? 'page' : undefined}
      >
        Automations
      </a>
      <a href={hrefOf({ page: 'status', factory })} aria-current={current === 'status' ? 'page' : undefined}>
        Status
      </a>
    </nav>
  );
}

function Account({ identity }: { readonly identity: Identity }) {
  const leaving = useAction(signOut);
  return (
    <div class="account">
      <span class="who" title="The API token that you are signed in with">
        <bdi>{identity.token}</bdi>
      </span>
      <Pill tone="quiet">{identity.permission}</Pill>
      <button type="button" class="plain" disabled={leaving.busy} onClick={() => leaving.run()}>
        Sign out
      </button>
    </div>
  );
}

export function NothingHere() {
  return (
    <>
      <PageHeading title="There is nothing here" />
      <Empty title="The address names no page of the dashboard.">
        <a href={hrefOf({ page: 'home' })}>Back to the start</a>
      </Empty>
    </>
  );
}

export function Announcements() {
  const current = announcement.value;
  return (
    <div class="announcements" role="status" aria-live="polite">
      {current && (
        <p key={current.id} class="announcement">
          {current.text}
        </p>
      )}
    </div>
  );
}
