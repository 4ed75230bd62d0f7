import { describeUnlogged } from '../../../schema/clients/describe.ts';
import type { WhyStep } from '../../../schema/health.ts';
import { callApi } from '../../api-client.ts';
import type { ExplainedWhy, ShownWebhook } from '../../api-types.ts';
import { isRowOpen } from '../../parts/disclosure.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { Pill, type Tone } from '../../parts/pills.tsx';
import { Text, Time, WithCode } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time-zone.ts';
import { useInterval } from '../../state/use-interval.ts';
import { formatClockTime } from '../../text/format-time.ts';

const whyEveryMs = 10_000;

const labels: Readonly<Record<WhyStep, string>> = {
  daemon: 'Daemon',
  webhook: 'Webhook',
  sender: 'Sender',
  url: 'URL',
  authentication: 'Authentication',
  limits: 'Limits',
  json: 'JSON',
  identity: 'Identity',
  automations: 'Automations',
  runs: 'Runs',
};
const tones: Readonly<Record<ExplainedWhy['steps'][number]['state'], Tone>> = {
  ok: 'good',
  wrong: 'bad',
  earlier: 'warn',
  unknown: 'quiet',
};

/** How far the last request came, from its sender to the runs, with the first thing that is wrong. */
export function WhyCard({ webhook: { uid, enabled } }: { readonly webhook: ShownWebhook }) {
  const { factory } = useFactory();
  const why = useLoad(
    signal => callApi('get', '/factories/{factory}/why/{subject}', { factory, subject: uid, signal }),
    [factory, uid, enabled],
  );
  useInterval(() => {
    if (!isRowOpen(document)) why.reload();
  }, whyEveryMs);
  if (!why.value) return <Waiting error={why.error} reload={why.reload} what="the last request" />;
  return <Explanation why={why.value} />;
}

function Explanation({ why: { cause, steps, last, unlogged } }: { readonly why: ExplainedWhy }) {
  const found = steps.filter(({ state }) => state === 'wrong' || state === 'earlier');
  const causing = found.find(({ step }) => step === cause);
  const others = found.filter(step => step !== causing);
  const refused = describeUnlogged(unlogged, at => formatClockTime(at, timeZone.value));
  return (
    <section class="card padded" aria-labelledby="why">
      <h2 id="why">
        <Text text={causing ? `Cause: ${causing.message}` : 'The last request was processed'} />
      </h2>
      <ol class="why-steps">
        {steps.map(({ step, state, message }) => (
          <li key={step} title={message}>
            <Pill tone={tones[state]}>
              {labels[step]}
              <span class="unseen">{state}</span>
            </Pill>
          </li>
        ))}
      </ol>
      {causing && <Finding finding={causing} />}
      {others.map(finding => (
        <Finding key={finding.step} finding={finding} />
      ))}
      {last.length > 0 && <LastDeliveries last={last} />}
      {refused.length > 0 && (
        <p class="hint">
          Refused and not logged in the last hour: <Text text={refused.join(', ')} />
        </p>
      )}
    </section>
  );
}

/** A step that is or was wrong, with its remedy. */
function Finding({ finding }: { readonly finding: ExplainedWhy['steps'][number] }) {
  const { step, state, at, message, lines, remedy } = finding;
  return (
    <div class={`notice ${state === 'wrong' ? 'bad' : 'warn'}`}>
      <p>
        <strong>{labels[step]}:</strong> <Text text={message} /> {at !== null && <Time at={at} />}
      </p>
      {lines.length > 0 && (
        <pre>
          <Text text={lines.join('\n')} />
        </pre>
      )}
      {remedy !== null && (
        <p>
          <WithCode text={remedy} />
        </p>
      )}
    </div>
  );
}

/** The last delivery with each outcome. */
function LastDeliveries({ last }: Pick<ExplainedWhy, 'last'>) {
  const { factory } = useFactory();
  return (
    <p class="hint">
      Last:
      {last.map(({ outcome, id, at }) => (
        <span key={outcome} class="together">
          {' '}
          <a href={toHref({ page: 'delivery', factory, id })}>{outcome}</a> <Time at={at} />
        </span>
      ))}
    </p>
  );
}
