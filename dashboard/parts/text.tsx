import { escapeInvisible } from '../text/escape-invisible.ts';

/** Text from outside: senders, definition files, git. It never becomes markup. */
export function Text({ text }: { readonly text: string }) {
  return <bdi>{escapeInvisible(text)}</bdi>;
}

export function Code({ text }: { readonly text: string }) {
  return (
    <code>
      <bdi>{escapeInvisible(text)}</bdi>
    </code>
  );
}
