import { useSecretOnScreen } from '../state/current-location.ts';
import { Button } from './controls.tsx';
import { CopyableLine } from './copyable.tsx';
import { Dialog } from './dialog.tsx';

/** What a sender must be given. It is shown once, when it was generated. */
export interface GeneratedSecret {
  readonly secret?: string | undefined;
  /** The ingress URL with the secret in it, for a webhook with a URL token. */
  readonly url?: string | undefined;
}

interface Properties {
  readonly title: string;
  readonly kind?: 'secret' | 'token';
  readonly generated: GeneratedSecret;
  readonly onStored: () => void;
}

/** Shows a generated secret until the user says that it is stored. After that, nobody can show it again. */
export function RevealedOnce({ title, kind = 'secret', generated: { secret, url }, onStored }: Properties) {
  useSecretOnScreen();
  return (
    <Dialog title={title} onClose={onStored} stays>
      <div class="revealed stack">
        <p>
          <strong>Shown once.</strong> Copy it now: it cannot be shown again. If you lose it,{' '}
          {kind === 'secret' ? 'rotate the secret' : 'revoke it and create another'}.
        </p>
        {url !== undefined && (
          <>
            <h3 class="label">Ingress URL with its token</h3>
            <CopyableLine text={url} what="ingress URL" />
          </>
        )}
        {secret !== undefined && (
          <>
            <h3 class="label">{kind === 'secret' ? 'Secret' : 'API token'}</h3>
            <CopyableLine text={secret} what={kind} />
          </>
        )}
      </div>
      <div class="actions">
        <Button look="primary" label="I have stored it" onClick={onStored} />
      </div>
    </Dialog>
  );
}
