import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'busy';

/** A state in one word. Each tone has its own shape as well as its own colour. */
export function Pill({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`pill ${tone}`}>{children}</span>;
}
