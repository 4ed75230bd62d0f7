import { useSecretOnScreen } from '../state/current-location.ts';
import { CopyableLine } from './copyable.tsx';
import { Dialog } from './dialog.tsx';
import type { GeneratedSecret } from './setup-path.tsx';

interface Properties {
  readonly title: string;
  readonly generated: GeneratedSecret;
  readonly onStored: () => void;
}

/** Shows a generated secret until the user says that it is stored. After that, nobody can show it again. */
export function RevealedOnce({ title, generated: { secret, url }, onStored }: Properties) {
  useSecretOnScreen();
  return (
    <Dialog title={title} onClose={onStored} stays>
      <div class="revealed stack">
        <p>
          <strong>Shown once.</strong> Copy it now: it cannot be shown again. If you lose it, rotate the
          secret.
        </p>
        {url !== undefined && (
          <>
            <h3 class="label">Ingress URL with its token</h3>
            <CopyableLine text={url} what="ingress URL" />
          </>
        )}
        {secret !== undefined && (
          <>
            <h3 class="label">Secret</h3>
            <CopyableLine text={secret} what="secret" />
          </>
        )}
      </div>
      <div class="actions">
        <button type="button" class="btn primary" onClick={onStored}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}
