import { escapeInvisible } from '../text/format-values.ts';
import { CopyableLine, CopyButton } from './copyable.tsx';

const secretPlace = '{token}';

/** The ingress URL of a webhook. What stands for its secret is marked, and Copy says that it is missing. */
export function IngressUrl({ url }: { readonly url: string }) {
  if (!url.includes(secretPlace)) return <CopyableLine text={url} what="ingress URL" />;
  return (
    <div class="copyline">
      <code>
        {escapeInvisible(url.replace(secretPlace, ''))}
        <span class="tag">the secret</span>
      </code>
      <CopyButton text={url} what="URL without its secret" shown="Copy without the secret" />
    </div>
  );
}
