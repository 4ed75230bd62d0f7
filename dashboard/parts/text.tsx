import { visibleText } from '../text/escape-invisible.ts';

/** Text that came from outside: senders, definition files, git. It is shown, whatever it says, and nothing else. */
export function Text({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>;
}

export function Code({ text }: { readonly text: string }) {
  return (
    <code>
      <bdi>{visibleText(text)}</bdi>
    </code>
  );
}
