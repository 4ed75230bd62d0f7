import { useState } from 'preact/hooks';
import { askNow, daemonAway } from '../state/connection.ts';
import { timeZone } from '../state/time-zone.ts';
import { useInterval } from '../state/use-interval.ts';
import { formatClockTime } from '../text/format-time.ts';
import { Notice } from './notice.tsx';

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
        action={
          <button type="button" class="btn small" onClick={() => void askNow()}>
            Try now
          </button>
        }
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
