import { useState } from 'preact/hooks';
import { Brand } from '../../parts/brand.tsx';
import { Field } from '../../parts/field.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { signIn } from '../../state/session.ts';
import { useSubmit } from '../../state/use-action.ts';

/** `notice` says why a user who was signed in no longer is. */
export function SignInPage({ notice }: { readonly notice?: string }) {
  const [token, setToken] = useState('');
  const { busy, error, submit } = useSubmit(() => signIn(token.trim()));
  return (
    <main class="lone">
      <Brand />
      <PageHeading title="Sign in" />
      {notice && <p class="notice">{notice}</p>}
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
              type="password"
              autocomplete="current-password"
              required
              value={token}
              onInput={event => setToken(event.currentTarget.value)}
            />
          )}
        </Field>
        <ProblemNotice error={error} />
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
