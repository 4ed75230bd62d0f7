import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { callApi } from './api-client.ts';
import type { Account } from './api-types.ts';
import { FactoryPages } from './factory-pages.tsx';
import { Header } from './header.tsx';
import { HomePage } from './pages/home/home-page.tsx';
import { SessionsPage } from './pages/sessions/sessions-page.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { Empty } from './parts/lists.tsx';
import { PageHeading } from './parts/page-heading.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { announcement, goOn, stay } from './state/announcements.ts';
import { noticeUse } from './state/attendance.ts';
import { startClock } from './state/clock.ts';
import { changesOnScreen, currentLocation, followAddress, secretOnScreen } from './state/current-location.ts';
import { followKeyboard } from './state/keyboard.ts';
import { useLoad } from './state/loading.ts';
import { toHref } from './state/page-location.ts';
import { resumeSession, session } from './state/session.ts';
import { sessionExpired } from './state/session-expiry.ts';

function App() {
  useEffect(() => void resumeSession(), []);
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
          <ProblemNotice error={current.failure} retry={() => void resumeSession()} />
        </main>
      );
    case 'signed-out':
      return <SignInPage failure={current.failure} />;
    case 'signed-in':
      // What is on the screen may be lost otherwise.
      if (!sessionExpired.value || secretOnScreen.value || changesOnScreen.value)
        return <SignedInView account={current.account} />;
      return <SignInPage notice="Your session has expired. Sign in to continue where you were." />;
  }
}

function SignedInView({ account }: { readonly account: Account }) {
  const factories = useLoad(signal => callApi('get', '/factories', { signal }), []);
  const location = currentLocation.value;
  const names = factories.value?.factories.map(({ factory }) => factory) ?? [];
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Header account={account} location={location} factories={names} />
      <main id="main" tabIndex={-1}>
        {'factory' in location ? (
          <FactoryPages key={location.factory} location={location} />
        ) : location.page === 'home' ? (
          <HomePage account={account} factories={factories} />
        ) : location.page === 'sessions' ? (
          <SessionsPage />
        ) : (
          <NotFoundPage />
        )}
      </main>
    </>
  );
}

startClock();
followKeyboard();
noticeUse();
followAddress();
const root = document.getElementById('app');
if (root) render(<App />, root);

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
          {current.open && (
            <a class="btn small" href={current.open.href}>
              {current.open.label}
            </a>
          )}
        </div>
      )}
    </div>
  );
}

function NotFoundPage() {
  return (
    <>
      <PageHeading title="Page not found" />
      <Empty title="The dashboard has no page at this address.">
        <a href={toHref({ page: 'home' })}>Go to the start page</a>
      </Empty>
    </>
  );
}
