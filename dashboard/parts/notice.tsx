import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { askNow, daemonAway } from '../state/connection.ts';
import { timeZone, useInterval } from '../state/time.ts';
import { formatClockTime } from '../text/format-time.ts';
import type { SignName } from '../text/looks.ts';
import { Button } from './controls.tsx';
import { Sign } from './signs.tsx';

interface Properties {
  readonly tone?: 'bad' | 'warn';
  readonly sign?: SignName;
  /** The cause, as a sentence. */
  readonly cause: ComponentChildren;
  /** Follows the cause on its line. */
  readonly more?: ComponentChildren;
  /** What to do, on a line of its own. */
  readonly children?: ComponentChildren;
  /** One button or link. */
  readonly action?: ComponentChildren;
  /** Whether screen readers tell it at once, because it answers what the user did. */
  readonly isAlert?: boolean;
}

/** A problem in a sentence: its cause, what to do, and one button. At most one on a page. */
export function Notice({ tone, sign, cause, more, children, action, isAlert = false }: Properties) {
  const shown = sign ?? (tone === 'bad' ? 'failed' : tone === 'warn' ? 'warning' : 'waiting');
  return (
    <div class={`notice ${tone ?? ''}`} role={isAlert ? 'alert' : undefined}>
      <Sign name={shown} />
      <div>
        <b>{cause}</b> {more !== undefined && <span class="t2">{more}</span>}
      </div>
      {children !== undefined && <div class="t2">{children}</div>}
      {action !== undefined && <div class="actions">{action}</div>}
    </div>
  );
}

/** Says that the daemon does not answer, and when it is asked again. What was loaded stays below. */
export function AwayNotice() {
  const away = daemonAway.value;
  if (!away) return null;
  const { answeredMs, nextTryMs } = away;
  return (
    <div class="away">
      <Notice
        tone="bad"
        isAlert
        cause="The daemon does not answer."
        more={
          answeredMs !== undefined &&
          `You see what was loaded by ${formatClockTime(new Date(answeredMs).toISOString(), timeZone.value)}.`
        }
        action={<Button look="small" label="Try now" onClick={() => void askNow()} />}
      >
        {/* Screen readers are not told each second. */}
        <Countdown key={nextTryMs} untilMs={nextTryMs} /> Nothing can be changed meanwhile. On its machine:{' '}
        <code>hookmill doctor</code>
      </Notice>
    </div>
  );
}

function Countdown({ untilMs }: { readonly untilMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useInterval(() => setNowMs(Date.now()), 1_000);
  const seconds = Math.ceil((untilMs - nowMs) / 1_000);
  return <span aria-hidden="true">{seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…'}</span>;
}
