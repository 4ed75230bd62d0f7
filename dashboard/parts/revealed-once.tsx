import type { Revealed } from '../api-types.ts';
import { CopyableLine } from './copyable.tsx';

/** What was generated. Once this is gone from the page, nobody can show it again. */
export function RevealedOnce({ revealed }: { readonly revealed: Revealed }) {
  return (
    <div class="revealed">
      <p>
        <strong>Shown once.</strong> Copy it to where it is needed before you go on: it cannot be shown again,
        only rotated.
      </p>
      {revealed.url !== undefined && (
        <>
          <h3>Ingress URL with its token</h3>
          <CopyableLine text={revealed.url} what="ingress URL" />
        </>
      )}
      {revealed.secret !== undefined && (
        <>
          <h3>Secret</h3>
          <CopyableLine text={revealed.secret} what="secret" />
        </>
      )}
    </div>
  );
}
