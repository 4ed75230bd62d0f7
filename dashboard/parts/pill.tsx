import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'busy';

/** A state in a word: its shape tells it apart as well as its colour. */
export function Pill({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`pill ${tone}`}>{children}</span>;
}
