import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Account } from './api-answers.ts';
import { FactoryPages } from './factory-pages.tsx';
import { Header } from './header.tsx';
import { Jump } from './jump.tsx';
import { KeysTable } from './keys-table.tsx';
import { HomePage } from './pages/home/home-page.tsx';
import { SessionsPage } from './pages/settings/sign-in-section.tsx';
import { SignInDialog, SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { LinkButton } from './parts/controls.tsx';
import { NotFound } from './parts/not-found.tsx';
import { AwayNotice } from './parts/notice.tsx';
import { Brand } from './parts/page-heading.tsx';
import { announcement, goOn, stay } from './state/announcements.ts';
import { useOpenAlerts } from './state/attention.ts';
import { rereads } from './state/connection.ts';
import { currentLocation, followAddress, secretOnScreen } from './state/current-location.ts';
import { followKeyboard, jumpShown, keysShown, openJump, openKeys, useKeys } from './state/keyboard.ts';
import { resumeSession, session } from './state/session.ts';
import { noticeUse, sessionExpired } from './state/session-expiry.ts';
import { startClock } from './state/time.ts';
import { useApi } from './state/use-api.ts';

function App() {
  const isAway = session.value.state === 'unreachable';
  // Again when the daemon is back.
  useEffect(() => void resumeSession(), [isAway ? rereads.value : 0]);
  return (
    <>
      <CurrentView />
      <Announcements />
    </>
  );
}

function CurrentView() {
  const current = session.value;
  switch (current.state) {
    case 'unknown':
      return null;
    case 'unreachable':
      return (
        <main class="lone">
          <Brand />
          <AwayNotice />
        </main>
      );
    case 'signed-out':
      return <SignInPage failure={current.failure} />;
    case 'signed-in':
      return (
        <>
          <SignedInView account={current.account} />
          {sessionExpired.value && !secretOnScreen.value && <SignInDialog />}
        </>
      );
  }
}

function SignedInView({ account }: { readonly account: Account }) {
  const factories = useApi('/factories', {});
  const location = currentLocation.value;
  const names = factories.value?.factories.map(({ factory }) => factory) ?? [];
  useOpenAlerts();
  useKeys({ '/': openJump, 'Control+k': openJump, '?': openKeys });
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Header account={account} location={location} factories={names} />
      <AwayNotice />
      <main id="main" tabIndex={-1}>
        {'factory' in location ? (
          <FactoryPages key={location.factory} location={location} />
        ) : location.page === 'home' ? (
          <HomePage account={account} factories={factories} />
        ) : location.page === 'sessions' ? (
          <SessionsPage />
        ) : (
          <NotFound />
        )}
      </main>
      {jumpShown.value && <Jump location={location} factories={names} />}
      {keysShown.value && <KeysTable />}
    </>
  );
}

startClock();
followKeyboard();
noticeUse();
followAddress();
start();

function start(): void {
  const root = document.getElementById('app');
  if (root) render(<App />, root);
}

function Announcements() {
  const current = announcement.value;
  return (
    <div class="toasts" role="status" aria-live="polite">
      {current && (
        <div
          key={current.id}
          class="toast"
          onPointerEnter={stay}
          onPointerLeave={goOn}
          onFocusIn={stay}
          onFocusOut={goOn}
        >
          {current.text}
          {current.open && <LinkButton look="small" label={current.open.label} href={current.open.href} />}
        </div>
      )}
    </div>
  );
}
