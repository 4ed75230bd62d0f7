import { useEffect, useState } from 'preact/hooks';
import { describeAdvice, describeHandshake, describeIdentity } from '../../../schema/clients/describe.ts';
import { describeTokenPlace } from '../../../schema/token-place.ts';
import type {
  ExplainedWhy,
  ListedAutomation,
  ListedScheme,
  SentTest,
  ShownWebhook,
  TalliedWebhook,
} from '../../api-answers.ts';
import { Button } from '../../parts/controls.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { type Created, NothingComes, SetupPath } from '../../parts/setup-path.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Code, Fact, Facts, Id, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { currentLocation, useSecretOnScreen } from '../../state/current-location.ts';
import { useSchemeOf } from '../../state/loaded-objects.ts';
import { areSettled, type Loading } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { hasNoRequest, useOpenedAt } from '../../state/use-why.ts';
import { SenderCard, useHook } from './sender-card.tsx';
import { RequestPath } from './why-notice.tsx';

interface Properties {
  readonly webhook: ShownWebhook;
  readonly listeners: readonly ListedAutomation[];
  readonly why: Loading<ExplainedWhy>;
  readonly tallied: TalliedWebhook | undefined;
  /** The last test of this visit. */
  readonly lastTest: SentTest | undefined;
  /** If the webhook was just created. */
  readonly created: Created | undefined;
  readonly onChanged: (webhook: ShownWebhook) => void;
}

/** What somebody does at the sender, what the sender must do, and how its hook and its last request are. */
export function SetUpTab({ webhook, listeners, why, tallied, lastTest, created, onChanged }: Properties) {
  const sinceMs = useOpenedAt();
  const scheme = useSchemeOf(webhook);
  const hook = useHook(webhook);
  if (!why.value || !areSettled(scheme, hook))
    return <Waiting error={why.error} reload={why.reload} what="the set-up" />;
  const known = scheme.value ?? null;
  return (
    <div class="split beside">
      <div>
        {webhook.sender && <SenderCard webhook={webhook} known={hook.value} />}
        <section aria-labelledby="set-up">
          <h2 id="set-up">Set up the sender</h2>
          <SetupPath
            {...{ webhook, scheme: known, listeners, why: why.value, sinceMs, created, onChanged }}
          />
        </section>
        {!hasNoRequest(why.value) && (
          <section aria-labelledby="last-request">
            <h2 id="last-request">The last request</h2>
            <RequestPath why={why.value} />
          </section>
        )}
      </div>
      <aside>
        {lastTest && <LastTest sent={lastTest} />}
        <h2>What the sender must do</h2>
        <SenderFacts webhook={webhook} scheme={known} />
        {hasNoRequest(why.value) && <NothingComes webhook={webhook} scheme={known} />}
        {tallied?.overlap && (
          <p class="hint advice">
            <Sign name="warning" />
            <Text text={describeAdvice(tallied.overlap)} />
          </p>
        )}
      </aside>
    </div>
  );
}

/** Keeps the page as long as its secret was not copied, and asks when somebody leaves it. */
export function LeaveQuestion({ onLeave }: { readonly onLeave: () => void }) {
  useSecretOnScreen();
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    const ask = () => setAsking(true);
    addEventListener('hashchange', ask);
    return () => removeEventListener('hashchange', ask);
  }, []);
  const stay = () => {
    history.replaceState(null, '', toHref(currentLocation.value));
    setAsking(false);
  };
  if (!isAsking) return null;
  return (
    <Dialog title="Leave without the secret?" onClose={stay}>
      <p>Nobody copied it. When you leave this page, it cannot be shown again: it must be rotated.</p>
      <div class="actions">
        <Button look="primary" label="Stay" autofocus onClick={stay} />
        <Button label="Leave" onClick={onLeave} />
      </div>
    </Dialog>
  );
}

function LastTest({ sent }: { readonly sent: SentTest }) {
  const { factory } = useFactory();
  const { status, outcome, deliveryId, reason, runs, tookMs } = sent;
  return (
    <section class="last-test" aria-labelledby="last-test">
      <h2 id="last-test">Last test</h2>
      <Facts>
        <Fact term="Answer" value={`${status} after ${Math.round(tookMs)} ms`} />
        <Fact term="Outcome" value={outcome ?? 'refused, and not logged'} />
        {reason !== null && <Fact term="Reason" value={<Text text={reason} />} />}
        {deliveryId !== null && (
          <Fact
            term="Delivery"
            value={
              <a class="link" href={toHref({ page: 'delivery', factory, id: deliveryId })}>
                <Id id={deliveryId} isCopied={false} />
              </a>
            }
          />
        )}
        <Fact term="Runs" value={runs} />
      </Facts>
    </section>
  );
}

/** The request that the webhook accepts, as facts. */
function SenderFacts({ webhook, scheme }: Pick<Properties, 'webhook'> & { scheme: ListedScheme | null }) {
  const { bodyFormat, payloadField, identity, handshake, secretName } = webhook;
  const fact = (label: string) => scheme?.summary.find(line => line.label === label)?.text;
  const ownId = webhook.deliveryIdHeader ?? webhook.deliveryIdField;
  return (
    <>
      <Facts>
        <Fact term="Method" value="POST" />
        <Fact
          term="Body"
          value={
            bodyFormat === 'json'
              ? 'JSON'
              : payloadField === null
                ? 'a form'
                : `a form, with JSON in its field ${payloadField}`
          }
        />
        <Fact term="Credential" value={describeProof(webhook, fact('Header'))} />
        {secretName === null ? (
          <TokenFacts webhook={webhook} />
        ) : (
          <Fact term="Team secret" value={<Code text={secretName} />} />
        )}
        <Fact
          term="Event ID"
          value={
            ownId === null ? (
              (fact('Delivery identity') ?? <Code text="X-Service-Delivery-Id" />)
            ) : (
              <Code text={[ownId].flat().join(', ')} />
            )
          }
        />
        {identity !== null && <Fact term="Without an ID" value={describeIdentity(identity)} />}
        <Fact term="Answer" value={fact('Answer') ?? '202 once it is stored'} />
        <Fact term="Retry on" value="429, 5xx, no answer" />
        {handshake !== null && <Fact term="Handshake" value={<Code text={describeHandshake(handshake)} />} />}
        <Fact term="Headers kept" value={<Code text={webhook.eventHeaders.join(', ')} />} />
        <Fact term="UID" value={<Code text={webhook.uid} />} />
      </Facts>
      <p class="hint advice">An event ID makes a retry a duplicate, which starts nothing twice.</p>
      {scheme && <Verification scheme={scheme} />}
    </>
  );
}

function Verification({ scheme: { summary } }: { readonly scheme: ListedScheme }) {
  return (
    <details class="advice">
      <summary>How requests are verified</summary>
      <Facts>
        {summary
          .filter(({ label }) => label !== 'Note' && label !== 'Page')
          .map(({ label, text }) => (
            <Fact term={label} key={label} value={text} />
          ))}
      </Facts>
    </details>
  );
}

function describeProof(webhook: ShownWebhook, header: string | undefined) {
  const { authMode, signatureScheme } = webhook;
  switch (authMode) {
    case 'token':
    case 'oidc':
      return <Code text={describeTokenPlace(webhook)} />;
    case 'url_token':
      return 'the secret at the end of the URL';
    case 'signature':
      return (
        <Code text={header ?? (typeof signatureScheme === 'object' ? (signatureScheme?.header ?? '') : '')} />
      );
  }
}

/** The issuer, the audience and the claims that a sender's token must have. */
function TokenFacts({ webhook: { issuer, audience, claims } }: Pick<Properties, 'webhook'>) {
  return (
    <>
      <Fact term="Issuer" value={<Code text={issuer ?? ''} />} />
      <Fact term="Audience" value={<Code text={audience ?? ''} />} />
      {Object.entries(claims ?? {}).map(([claim, condition]) => (
        <Fact
          term={`Claim ${claim}`}
          key={claim}
          value={<Code text={Array.isArray(condition) ? condition.join(', ') : JSON.stringify(condition)} />}
        />
      ))}
    </>
  );
}
