import type { ComponentChildren } from 'preact';
import type { SignName } from '../text/looks.ts';
import { Sign, toneOf } from './signs.tsx';

export interface PathStep {
  readonly key: string;
  readonly sign: SignName;
  readonly title: ComponentChildren;
  /** At the right: a time, or how long it took. */
  readonly at?: ComponentChildren;
  readonly more?: ComponentChildren;
  /** `next`: not reached. `now`: what follows is open. */
  readonly stage?: 'next' | 'now';
  /** Where its bar begins and how long it is, as parts of the whole path's time. */
  readonly took?: { readonly from: number; readonly length: number } | undefined;
}

export interface StripStep {
  readonly label: string;
  readonly sign: SignName;
  /** `no`: the path breaks here. `off`: not reached. */
  readonly stage?: 'no' | 'off';
}

/** What happened, in order, from top to bottom. Bars share one axis of time. */
export function Path({ label, steps }: { readonly label: string; readonly steps: readonly PathStep[] }) {
  return (
    <ol class="path" aria-label={label}>
      {steps.map(({ key, sign, title, at, more, stage, took }) => (
        <li key={key} class={`${stage ?? ''} ${toneOf(sign)}`}>
          <Sign name={sign} />
          <div>{title}</div>
          {at !== undefined && <span class="at">{at}</span>}
          {more !== undefined && <div class="more">{more}</div>}
          {took && (
            <span class="took" aria-hidden="true">
              <i
                class={toneOf(sign)}
                style={{ width: `${took.length * 100}%`, marginLeft: `${took.from * 100}%` }}
              />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The same from left to right, in a word for each step. */
export function Strip({ label, steps }: { readonly label: string; readonly steps: readonly StripStep[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <ol class="strip" tabIndex={0} aria-label={label}>
      {steps.map(({ label, sign, stage }) => (
        <li key={label} class={stage ?? ''}>
          <Sign name={sign} />
          {label}
          {stage === 'no' && <span class="unseen"> (the cause)</span>}
          {stage === 'off' && <span class="unseen"> (not reached)</span>}
        </li>
      ))}
    </ol>
  );
}
