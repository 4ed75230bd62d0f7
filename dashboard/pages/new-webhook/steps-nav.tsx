import { Sign } from '../../parts/signs.tsx';

/** The two steps, with the current one. */
export function StepsNav({ current, second }: { readonly current: 1 | 2; readonly second: string }) {
  return (
    <ol class="steps-nav">
      {['Provider and secret', second].map((label, index) => (
        <li key={index} aria-current={index + 1 === current ? 'step' : undefined}>
          {index + 1 < current ? <Sign name="done" label="done" /> : <span class="num">{index + 1}</span>}
          {label}
        </li>
      ))}
    </ol>
  );
}
