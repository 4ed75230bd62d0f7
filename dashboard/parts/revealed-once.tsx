import { CopyableLine } from './copyable.tsx';

export interface GeneratedSecret {
  readonly secret?: string | undefined;
  /** The ingress URL with the secret in it, for a webhook with a URL token. */
  readonly url?: string | undefined;
}

/** A generated secret. After it leaves the page, nobody can show it again. */
export function RevealedOnce({ secret, url }: GeneratedSecret) {
  return (
    <div class="revealed">
      <p>
        <strong>Shown once.</strong> Copy it now: it cannot be shown again. If you lose it, rotate the secret.
      </p>
      {url !== undefined && (
        <>
          <h3>Ingress URL with its token</h3>
          <CopyableLine text={url} what="ingress URL" />
        </>
      )}
      {secret !== undefined && (
        <>
          <h3>Secret</h3>
          <CopyableLine text={secret} what="secret" />
        </>
      )}
    </div>
  );
}
