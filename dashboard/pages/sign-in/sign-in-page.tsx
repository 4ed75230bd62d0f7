import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ApiFailure } from '../../api-failure.ts';
import { Field } from '../../parts/fields.tsx';
import { Brand, PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { useLoad } from '../../state/loading.ts';
import { leaveForProvider, signIn } from '../../state/session.ts';
import { useAction, useSubmit } from '../../state/use-action.ts';

interface Properties {
  /** Why a user who was signed in no longer is. */
  readonly notice?: string;
  /** Why a sign-in at the provider failed. */
  readonly failure?: ApiFailure | undefined;
}

export function SignInPage({ notice, failure }: Properties) {
  const [token, setToken] = useState('');
  const { busy, error, submit } = useSubmit(() => signIn(token.trim()));
  return (
    <main class="lone">
      <Brand />
      <PageHeading title="Sign in" />
      {notice && <p class="notice">{notice}</p>}
      <ProblemNotice error={failure} />
      <ProviderButton />
      <form class="stack" onSubmit={submit}>
        <Field
          label="API token"
          hint={
            <>
              The operator of the daemon creates one:{' '}
              <code>hookmill tokens create NAME --permission manage</code>
            </>
          }
        >
          {ids => (
            <input
              {...ids}
              class="input"
              type="password"
              autocomplete="current-password"
              required
              value={token}
              onInput={event => setToken(event.currentTarget.value)}
            />
          )}
        </Field>
        <ProblemNotice error={error} />
        <button type="submit" class="btn primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

/** Leads to the provider at which people sign in, if there is one. */
function ProviderButton() {
  const { value } = useLoad(signal => callApi('get', '/sign-in', { signal }), []);
  const { busy, error, run } = useAction(leaveForProvider);
  if (!value?.provider) return null;
  return (
    <div class="stack">
      <ProblemNotice error={error} />
      <button type="button" class="btn primary" disabled={busy} onClick={() => run()}>
        Sign in with <bdi>{value.provider.label}</bdi>
      </button>
      <p class="t3">or with an API token:</p>
    </div>
  );
}
