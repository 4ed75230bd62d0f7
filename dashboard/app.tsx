import { useEffect } from 'preact/hooks';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { Announcements, Shell } from './signed-in-view.tsx';
import { resumeSession, session } from './state/session.ts';

export function App() {
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
      return <SignInPage notice={current.notice} />;
    case 'signed-in':
      return <Shell identity={current.identity} />;
  }
}
