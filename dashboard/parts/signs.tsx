import type { ComponentChildren, VNode } from 'preact';
import type { SignName } from '../text/looks.ts';

/** Colour is for exceptions: what is normal has none. */
export type Tone = 'bad' | 'warn' | 'run' | 'good';

interface SignProperties {
  readonly name: SignName;
  /** Without it, a word beside the sign says the same. */
  readonly label?: string;
}

const ring = <circle cx="7" cy="7" r="5.25" />;
const dashedRing = <circle cx="7" cy="7" r="5.25" stroke-dasharray="2 2.12" />;
const disc = <circle class="f" cx="7" cy="7" r="6.25" />;

const signs: Readonly<Record<SignName, readonly [tone: Tone | '', drawing: VNode]>> = {
  accepted: ['', <circle class="dot" cx="7" cy="7" r="1.4" />],
  rejected: ['bad', draw(ring, 'm3.4 3.4 7.2 7.2')],
  duplicate: ['warn', draw(<rect x="2" y="4.5" width="7" height="7" rx="1" />, 'M5 2.5h6a.8.8 0 0 1 .8.8v6')],
  done: ['', <path d="m3 7.5 2.7 2.7L11 4.5" />],
  fails: ['', <path d="m4.5 4.5 5 5M9.5 4.5l-5 5" />],
  waiting: ['', draw(dashedRing, 'M7 7h.01')],
  queued: ['', dashedRing],
  running: [
    'run',
    <>
      <circle class="o" cx="7" cy="7" r="5.25" />
      <path class="a" d="M7 1.75A5.25 5.25 0 0 1 12.25 7" />
    </>,
  ],
  held: ['warn', draw(ring, 'M5.7 5v4M8.3 5v4')],
  stopped: [
    'warn',
    <>
      {ring}
      <path class="f" d="M5 5h4v4H5z" />
    </>,
  ],
  failed: ['bad', draw(disc, 'm5 5 4 4M9 5 5 9', 'k')],
  dismissed: ['', draw(ring, 'M4.5 7h5')],
  quiet: ['warn', <path d="M11.8 8.7A5 5 0 1 1 5.3 2.2a4.2 4.2 0 0 0 6.5 6.5z" />],
  disabled: ['', ring],
  warning: ['warn', <path d="M7 2 1.6 11.8h10.8zM7 5.8v2.6M7 10.3v.1" />],
  branch: [
    'bad',
    <>
      <circle cx="4" cy="3" r="1.5" />
      <circle cx="4" cy="11" r="1.5" />
      <circle cx="10" cy="5" r="1.5" />
      <path d="M4 4.5v5M10 6.5c0 2-3 2-5.5 3" />
    </>,
  ],
  well: ['good', draw(disc, 'm4.3 7.2 1.9 1.9L9.8 5.3', 'k')],
  turn: ['', <circle class="ink" cx="7" cy="7" r="4" />],
};

function draw(shape: VNode, d: string, className?: string): VNode {
  return (
    <>
      {shape}
      <path class={className} d={d} />
    </>
  );
}

/** The sign of a state, 14 px. */
export function Sign({ name, label }: SignProperties) {
  const [tone, drawing] = signs[name];
  return (
    <svg
      class={`g ${tone}`}
      viewBox="0 0 14 14"
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined}
    >
      {drawing}
    </svg>
  );
}

/** A state: its sign, and a word. */
export function State({ sign, children }: { readonly sign: SignName; readonly children: ComponentChildren }) {
  return (
    <span class={`state ${toneOf(sign)}`}>
      <Sign name={sign} />
      <span>{children}</span>
    </span>
  );
}

export function toneOf(sign: SignName): Tone | '' {
  return signs[sign][0];
}
