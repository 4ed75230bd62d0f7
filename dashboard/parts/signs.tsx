import type { ComponentChildren } from 'preact';
import type { SignName } from '../text/looks.ts';

/** Colour is for exceptions: what is normal has none. */
type Tone = 'bad' | 'warn' | 'run' | 'good';

interface SignProperties {
  readonly name: SignName;
  /** Without it, a word beside the sign says the same. */
  readonly label?: string;
}

/** A path on 14 × 14, and its class. */
type Drawing = readonly [d: string, className?: string];

const ring: Drawing = ['M1.75 7a5.25 5.25 0 0 1 10.5 0 5.25 5.25 0 0 1-10.5 0'];
const dashedRing: Drawing = [ring[0], 'dashed'];
const disc: Drawing = ['M.75 7a6.25 6.25 0 0 1 12.5 0A6.25 6.25 0 0 1 .75 7', 'f'];

/** The tone and the drawings of each sign, as text: a kept element would keep the whole page that has shown it in memory. */
const signs: Readonly<Record<SignName, readonly [tone: Tone | '', ...drawings: readonly Drawing[]]>> = {
  accepted: ['', ['M5.6 7a1.4 1.4 0 0 1 2.8 0 1.4 1.4 0 0 1-2.8 0', 'dot']],
  rejected: ['bad', ring, ['m3.4 3.4 7.2 7.2']],
  duplicate: [
    'warn',
    ['M3 4.5h5a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1v-5a1 1 0 0 1 1-1M5 2.5h6a.8.8 0 0 1 .8.8v6'],
  ],
  done: ['', ['m3 7.5 2.7 2.7L11 4.5']],
  fails: ['', ['m4.5 4.5 5 5M9.5 4.5l-5 5']],
  waiting: ['', dashedRing, ['M7 7h.01']],
  queued: ['', dashedRing],
  running: ['run', [ring[0], 'o'], ['M7 1.75A5.25 5.25 0 0 1 12.25 7', 'a']],
  held: ['warn', ring, ['M5.7 5v4M8.3 5v4']],
  stopped: ['warn', ring, ['M5 5h4v4H5z', 'f']],
  failed: ['bad', disc, ['m5 5 4 4M9 5 5 9', 'k']],
  dismissed: ['', ring, ['M4.5 7h5']],
  quiet: ['warn', ['M11.8 8.7A5 5 0 1 1 5.3 2.2a4.2 4.2 0 0 0 6.5 6.5z']],
  disabled: ['', ring],
  warning: ['warn', ['M7 2 1.6 11.8h10.8zM7 5.8v2.6M7 10.3v.1']],
  branch: [
    'bad',
    [
      'M2.5 3a1.5 1.5 0 0 1 3 0 1.5 1.5 0 0 1-3 0m0 8a1.5 1.5 0 0 1 3 0 1.5 1.5 0 0 1-3 0m6-6a1.5 1.5 0 0 1 3 0 1.5 1.5 0 0 1-3 0',
    ],
    ['M4 4.5v5M10 6.5c0 2-3 2-5.5 3'],
  ],
  well: ['good', disc, ['m4.3 7.2 1.9 1.9L9.8 5.3', 'k']],
  turn: ['', ['M3 7a4 4 0 0 1 8 0 4 4 0 0 1-8 0', 'ink']],
};

/** The sign of a state, 14 px. */
export function Sign({ name, label }: SignProperties) {
  const [tone, ...drawings] = signs[name];
  return (
    <svg
      class={`g ${tone}`}
      viewBox="0 0 14 14"
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined}
    >
      {drawings.map(([d, className]) => (
        <path key={d} class={className} d={d} />
      ))}
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
