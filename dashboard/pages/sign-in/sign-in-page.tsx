import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../api-answers.ts';
import { Button } from '../../parts/controls.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/fields.tsx';
import { AwayNotice } from '../../parts/notice.tsx';
import { Brand, PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { leaveForProvider, signIn } from '../../state/session.ts';
import { useAction, useSubmit } from '../../state/use-action.ts';
import { useApi } from '../../state/use-api.ts';

interface Properties {
  /** Why a sign-in at the provider failed. */
  readonly failure?: ApiFailure | undefined;
}

export function SignInPage({ failure }: Properties) {
  return (
    <main class="lone">
      <div class="brand">
        <Brand />
      </div>
      <AwayNotice />
      <PageHeading title="Sign in" />
      <ProblemNotice error={failure} />
      <SignInForm />
    </main>
  );
}

/** Signs in again over the page, which then goes on where it was. */
export function SignInDialog() {
  return (
    <Dialog title="Your session has expired" onClose={() => undefined} stays>
      <div class="stack">
        <p class="t2">Sign in to go on where you were.</p>
        <SignInForm />
      </div>
    </Dialog>
  );
}

function SignInForm() {
  const [token, setToken] = useState('');
  const { busy, error, control, submit } = useSubmit(() => signIn(token.trim()));
  const { value } = useApi('/sign-in', {});
  const provider = value?.provider;
  return (
    <div class="stack">
      {provider && <ProviderButton label={provider.label} />}
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
        <Button
          look={provider ? '' : 'primary'}
          label={busy ? 'Signing in…' : 'Sign in'}
          type="submit"
          {...control}
        />
      </form>
    </div>
  );
}

/** Leads to the provider at which people sign in. */
function ProviderButton({ label }: { readonly label: string }) {
  const { error, control, run } = useAction(leaveForProvider);
  return (
    <>
      <ProblemNotice error={error} />
      <button type="button" class="btn primary" {...control} onClick={() => run()}>
        Sign in with <bdi>{label}</bdi>
      </button>
      <p class="t3">or with an API token:</p>
    </>
  );
}
