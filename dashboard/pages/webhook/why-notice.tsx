import type { ComponentChildren } from 'preact';
import { describeUnlogged } from '../../../schema/clients/describe.ts';
import type { WhyStep } from '../../../schema/health.ts';
import type { ExplainedWhy, ListedAutomation, ShownWebhook } from '../../api-answers.ts';
import { LinkButton } from '../../parts/controls.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Path, Strip, type StripStep } from '../../parts/path.tsx';
import { Text, Time, WithCode } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time.ts';
import { hasNoRequest } from '../../state/use-why.ts';
import { formatClockTime } from '../../text/format-time.ts';
import type { SignName } from '../../text/looks.ts';

type Step = ExplainedWhy['steps'][number];

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

/** Steps at which nothing is lost: the delivery is stored, and starts nothing. */
const isOdd: ReadonlySet<WhyStep> = new Set(['identity', 'automations']);

interface Properties {
  readonly webhook: ShownWebhook;
  readonly why: ExplainedWhy;
  /** The automations that listen to it; undefined if they could not be read. */
  readonly listeners: readonly ListedAutomation[] | undefined;
}

/** Why the last request did not do what it should, with the remedy for this cause. Nothing if nothing is wrong, or if nothing ever came. */
export function CauseNotice({ webhook, why, listeners }: Properties) {
  const step = why.steps.find(({ step }) => step === why.cause);
  const isWaiting = step?.step === 'sender' && hasNoRequest(why);
  // The header says that it is disabled, and the set-up asks for its secret.
  if (!step || isWaiting || step.step === 'webhook' || webhook.credential === 'not set') return null;
  return (
    <section aria-label="Cause" class="cause">
      <Notice
        {...(step.step === 'identity'
          ? { sign: 'duplicate' as const }
          : { tone: isOdd.has(step.step) ? ('warn' as const) : ('bad' as const) })}
        cause={
          <>
            Cause: <Text text={step.message} />
            {/[.!?]$/.test(step.message) ? '' : '.'}
          </>
        }
        more={
          step.at !== null && (
            <span class="nowrap">
              <Time at={step.at} />
            </span>
          )
        }
        action={<Remedy step={step.step} webhook={webhook} listeners={listeners} />}
      >
        {step.lines.length > 0 && (
          <pre class="cause-lines">
            <Text text={step.lines.join('\n')} />
          </pre>
        )}
        {step.remedy !== null && <WithCode text={step.remedy} />}
      </Notice>
    </section>
  );
}

interface RemedyProperties extends Pick<Properties, 'webhook' | 'listeners'> {
  readonly step: WhyStep;
}

/** The one button of the notice, if something here repairs this cause. */
function Remedy({ step, webhook: { uid, name }, listeners }: RemedyProperties): ComponentChildren {
  const { factory, mayManage } = useFactory();
  if (step === 'automations') {
    if (listeners?.length !== 0) {
      const href = toHref({ page: 'webhook', factory, id: uid, query: { tab: 'filters' } });
      return <LinkButton look="small" label="See the filters" href={href} />;
    }
    return (
      mayManage && (
        <LinkButton
          look="small"
          label="Write an automation"
          to={{ page: 'new-automation', factory, query: { webhook: name } }}
        />
      )
    );
  }
  if (step !== 'runs') return null;
  return (
    <LinkButton
      look="small"
      label="See the runs"
      to={{ page: 'runs', factory, query: { state: 'failed' } }}
    />
  );
}

/** The way of the last request in a word for each step, and what was refused without a row. */
export function RequestStrip({ why: { steps, cause, unlogged } }: Pick<Properties, 'why'>) {
  const shown = steps.filter(({ step }) => step === cause || (step !== 'daemon' && step !== 'webhook'));
  const breaks = shown.findIndex(({ step }) => step === cause);
  const refused = describeUnlogged(unlogged, at => formatClockTime(at, timeZone.value));
  return (
    <div class="request-strip">
      <Strip
        label="The way of the last request"
        steps={shown.map(({ step, state }, index): StripStep => {
          const label = labels[step];
          if (index === breaks) return { label, sign: isOdd.has(step) ? 'warning' : 'failed', stage: 'no' };
          if ((breaks >= 0 && index > breaks) || state === 'unknown')
            return { label, sign: 'queued', stage: 'off' };
          return { label, sign: state === 'wrong' ? 'warning' : 'done' };
        })}
      />
      {refused.length > 0 && (
        <p class="hint">
          Refused and not logged in the last hour: <Text text={refused.join(', ')} />
        </p>
      )}
    </div>
  );
}

const stepSigns: Readonly<Record<Step['state'], SignName>> = {
  ok: 'done',
  wrong: 'failed',
  earlier: 'warning',
  unknown: 'queued',
};

/** Each step of the last request with what is known of it, and the last delivery with each outcome. */
export function RequestPath({ why: { steps, last } }: Pick<Properties, 'why'>) {
  const { factory } = useFactory();
  return (
    <>
      <Path
        label="The last request, step by step"
        steps={steps.map(({ step, state, at, message, remedy, lines }) => ({
          key: step,
          sign: stepSigns[state],
          title: labels[step],
          at: at !== null && <Time at={at} />,
          more: (
            <>
              <Text text={message} />
              {lines.length > 0 && (
                <pre class="cause-lines">
                  <Text text={lines.join('\n')} />
                </pre>
              )}
              {remedy !== null && (
                <p>
                  <WithCode text={remedy} />
                </p>
              )}
            </>
          ),
        }))}
      />
      {last.length > 0 && (
        <p class="hint">
          Last:
          {last.map(({ outcome, id, at }) => (
            <span key={outcome} class="nowrap">
              {' '}
              <a href={toHref({ page: 'delivery', factory, id })}>{outcome}</a> <Time at={at} />
            </span>
          ))}
        </p>
      )}
    </>
  );
}
