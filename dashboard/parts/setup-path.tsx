import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { describeTokenPlace, renderTokenOption } from '../../schema/token-place.ts';
import type {
  ExplainedWhy,
  ListedAutomation,
  ListedScheme,
  ListedWebhook,
  ShownWebhook,
} from '../api-answers.ts';
import { callApi } from '../api-client.ts';
import { type CurrentFactory, useFactory } from '../state/current-factory.ts';
import { toHref } from '../state/page-location.ts';
import { nowMs } from '../state/time.ts';
import { useSubmit } from '../state/use-action.ts';
import { hasNoRequest, isAccepted } from '../state/use-why.ts';
import { formatLength } from '../text/format-time.ts';
import { splitProvider } from '../text/senders.ts';
import { Button, LinkButton } from './controls.tsx';
import { CopyableBlock, CopyableLine } from './copyable.tsx';
import { SecretInput } from './fields.tsx';
import { Path, type PathStep } from './path.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import type { GeneratedSecret } from './revealed-once.tsx';
import { ClockTime, Code, Time, WithCode } from './text.tsx';

/** The secret of a webhook that was just created; null if none was made for it. */
export interface Created {
  readonly secret: GeneratedSecret | null;
  readonly onCopied: () => void;
}

interface Properties {
  readonly webhook: ListedWebhook;
  /** How its provider signs; null if no scheme of a provider says so. */
  readonly scheme: ListedScheme | null;
  /** The automations that act on its deliveries. */
  readonly listeners: readonly ListedAutomation[];
  /** How far the last request came; undefined while it is read. */
  readonly why: ExplainedWhy | undefined;
  /** Since when somebody waits for the first delivery, in ms. */
  readonly sinceMs: number;
  /** The new secret of a webhook that was just created: the path shows it, with the URL. */
  readonly created: Created | undefined;
  readonly onChanged: (webhook: ShownWebhook) => void;
}

/** The way from a new webhook to the first run: what is done, whose turn it is, and what comes then. */
export function SetupPath(properties: Properties) {
  const { webhook, scheme, listeners, why, created } = properties;
  const current = useFactory();
  const accepted = why?.last.find(isAccepted);
  const lacksSecret = webhook.credential === 'not set';
  const provider = nameProvider(scheme);
  const steps: PathStep[] = [
    {
      key: 'created',
      sign: 'done',
      title: <b>Webhook created</b>,
      at: created && webhook.createdAt !== null && <ClockTime at={webhook.createdAt} />,
      more: describeSecret(webhook, created?.secret ?? null),
    },
    {
      key: 'register',
      sign: accepted ? 'done' : 'turn',
      ...(!accepted && { stage: 'now' }),
      title: <b>{scheme ? `At ${provider}, register the URL` : 'Make your sender deliver here'}</b>,
      more: (
        <div class="stack setup">
          {created && <Given webhook={webhook} {...created} />}
          <RegisterWords webhook={webhook} scheme={scheme} />
        </div>
      ),
    },
    ...(lacksSecret ? [toSecretStep(properties, provider)] : []),
    toFirstStep(properties, provider),
    toAutomationStep(webhook.name, listeners, accepted !== undefined, current),
  ];
  return <Path label="Set-up" steps={steps} />;
}

/** The last step: the automations that act on the deliveries, or who is to write one. */
function toAutomationStep(
  webhook: string,
  listeners: readonly { readonly name: string }[],
  isAccepting: boolean,
  { factory, mayManage }: CurrentFactory,
): PathStep {
  const key = 'automation';
  if (listeners.length > 0) {
    const names = listeners.map(({ name }) => name).join(', ');
    return { key, sign: 'done', title: `${names} ${listeners.length === 1 ? 'acts' : 'act'} on it` };
  }
  const title = 'Write an automation that acts on it';
  if (!isAccepting || !mayManage)
    return { key, sign: 'queued', stage: 'next', title, more: 'Its fields come from the first delivery.' };
  const href = toHref({ page: 'new-automation', factory, query: { webhook } });
  return {
    ...{ key, sign: 'turn', title: <b>{title}</b> },
    more: <LinkButton look="primary setup" label="Write an automation" href={href} />,
  };
}

/** Names the sender. A specification is no place where a URL can be registered. */
function nameProvider(scheme: ListedScheme | null): string {
  if (!scheme || scheme.id === 'standard-webhooks') return 'the sender';
  return splitProvider(scheme.provider)[0];
}

function describeSecret(
  { credential, secretName }: ListedWebhook,
  made: GeneratedSecret | null,
): ComponentChildren {
  if (secretName === null) return 'It has no secret: the issuer of the tokens vouches for its senders.';
  const name = <Code text={secretName} />;
  if (made) return <>Its secret {name} was made. If you lose it, rotate the secret.</>;
  return credential === 'set' ? (
    <>The secret {name} is set. Its value is not shown.</>
  ) : (
    <>It has no secret yet, and answers 401 to every delivery.</>
  );
}

interface GivenProperties extends Created {
  readonly webhook: ListedWebhook;
}

/** The URL and the secret for the sender. */
function Given({ webhook, secret, onCopied }: GivenProperties) {
  const url = secret?.url ?? webhook.url;
  const isOnce = secret !== null;
  return (
    <>
      <div class="field">
        <span class="label">URL</span>
        <CopyableLine
          text={url}
          what="ingress URL"
          onCopied={secret?.url === undefined ? undefined : onCopied}
        />
      </div>
      {secret?.secret !== undefined && (
        <div class="field">
          <span class="label">Secret</span>
          <CopyableLine text={secret.secret} what="secret" onCopied={onCopied} />
        </div>
      )}
      {isOnce && <p class="hint">Shown once. When you leave this page, nobody can read it again.</p>}
    </>
  );
}

/** What to do at the sender, in the words of its provider for places. */
function RegisterWords({ webhook, scheme }: Pick<Properties, 'webhook' | 'scheme'>) {
  if (webhook.authMode !== 'signature') return <TokenWords webhook={webhook} />;
  if (!scheme) {
    if (typeof webhook.signatureScheme === 'string') {
      return <p>This daemon does not know the signature scheme {webhook.signatureScheme}.</p>;
    }
    return (
      <>
        <p>The sender signs each request with the secret {webhook.secretName}, as described here:</p>
        <CopyableBlock text={JSON.stringify(webhook.signatureScheme, null, 2)} what="signature scheme" />
      </>
    );
  }
  const sender = nameProvider(scheme);
  const note = scheme.summary.find(({ label }) => label === 'Note');
  const place = scheme.secretLocation.replace(/^you choose it(?:, [^;]*)?; /, '');
  return (
    <p class="t2">
      {place === scheme.secretLocation ? 'Its secret: ' : 'The secret: '}
      {place}. {note?.text}{' '}
      <a class="link nowrap" href={scheme.page} target="_blank" rel="noreferrer">
        How {sender} signs requests
      </a>
    </p>
  );
}

function TokenWords({ webhook }: { readonly webhook: ListedWebhook }) {
  const { authMode, secretName, issuer, audience } = webhook;
  if (authMode === 'oidc') {
    return (
      <p class="t2">
        Let the sender get a token of <Code text={issuer ?? ''} /> with the audience{' '}
        <Code text={audience ?? ''} />, and send it as <code>Authorization: Bearer …</code>. A CI job can run{' '}
        <code>hookmill send --oidc</code>.
      </p>
    );
  }
  return (
    <>
      <p class="t2">
        {authMode === 'token' ? (
          <>
            Send <Code text={describeTokenPlace(webhook)} /> with the secret <Code text={secretName ?? ''} />.
          </>
        ) : (
          <>
            Give the sender the whole URL, with the secret <Code text={secretName ?? ''} /> at its end. Treat
            it like a password: anyone who knows it can deliver.
          </>
        )}{' '}
        From a shell that knows the secret:
      </p>
      <CopyableBlock text={writeCurl(webhook)} what="Shell" />
    </>
  );
}

/** A command that delivers. The secret is in a variable, so that it is not in the history of the shell. */
function writeCurl(webhook: ListedWebhook): string {
  const { url, authMode, secretName, deliveryIdHeader, deliveryIdField } = webhook;
  const secret = (secretName ?? '').replaceAll(/[^A-Za-z0-9_]/g, '_');
  return [
    '# 202 means: stored, on disk',
    authMode === 'token'
      ? `curl --fail-with-body -X POST '${url}' \\\n  ${renderTokenOption(webhook, secret)} \\`
      : `curl --fail-with-body -X POST "${url.replace('{token}', () => `$${secret}`)}" \\`,
    ...(deliveryIdField === null
      ? [`  -H "${deliveryIdHeader ?? 'X-Service-Delivery-Id'}: $(uuidgen)" \\`]
      : []),
    `  -d '{"hello": "world"}'`,
  ].join('\n');
}

function toSecretStep({ webhook, onChanged }: Properties, provider: string): PathStep {
  return {
    key: 'secret',
    sign: 'turn',
    stage: 'now',
    title: <b>Enter the secret that {provider} shows</b>,
    more: <SecretEntry webhook={webhook} onChanged={onChanged} />,
  };
}

function SecretEntry({ webhook, onChanged }: Pick<Properties, 'webhook' | 'onChanged'>) {
  const { factory, managedHere, mayManage } = useFactory();
  const [value, setValue] = useState('');
  const { uid, secretName } = webhook;
  const { busy, error, control, submit } = useSubmit(async () => {
    const path = '/factories/{factory}/webhooks/{uid}/secret';
    onChanged((await callApi('post', path, { factory, uid, body: { value: value.trim() } })).webhook);
  });
  if (!managedHere) {
    return (
      <p>
        The team secret <Code text={secretName ?? ''} /> has no value yet, so the webhook answers 401 to every
        delivery. Run <code>hookmill secrets set {secretName}</code>, then apply the definition again.
      </p>
    );
  }
  if (!mayManage) return <p>You need the manage permission to enter it.</p>;
  return (
    <form class="stack setup" onSubmit={submit}>
      <SecretInput label="Secret from the provider" value={value} onInput={setValue} />
      <ProblemNotice error={error} />
      <div class="actions">
        <Button look="primary" label={busy ? 'Saving…' : 'Save the secret'} type="submit" {...control} />
      </div>
    </form>
  );
}

function toFirstStep({ webhook, why, sinceMs }: Properties, provider: string): PathStep {
  const key = 'first';
  if (why && !hasNoRequest(why)) {
    const accepted = why.last.find(isAccepted);
    if (accepted) {
      return { key, sign: 'done', title: <b>Deliveries arrive</b>, at: <Time at={accepted.at} /> };
    }
    return { key, sign: 'failed', title: <b>The request was refused</b> };
  }
  if (!webhook.enabled)
    return { key, sign: 'queued', stage: 'next', title: 'Enable it, then it accepts deliveries' };
  return {
    ...{ key, sign: 'running', stage: 'now' },
    title: <b>Waiting for the first delivery</b>,
    at: formatLength(nowMs.value - sinceMs),
    more: `Send a test from ${provider}. This page notices it at once, also if the request is refused.`,
  };
}

/** What to look at while no delivery comes: whether the sender reaches the host, and what its provider says of retries and of its own log. */
export function NothingComes({ webhook: { name, url }, scheme }: Pick<Properties, 'webhook' | 'scheme'>) {
  const at = new URL(url);
  const said = scheme?.summary.find(({ label }) => label === 'Retries')?.text;
  // A text ends with its source, a URL in brackets, if the provider has documented its retries.
  const [, retries] = /^(.+) \(https:.*\)$/.exec(said ?? '') ?? [];
  return (
    <section class="stack" aria-labelledby="nothing-comes">
      <h2 id="nothing-comes">Nothing comes?</h2>
      <p class="t2">
        The host must be reachable from the sender:{' '}
        <code class="nowrap">
          {at.hostname}:{at.port || (at.protocol === 'https:' ? 443 : 80)}
        </code>
        .
      </p>
      {retries !== undefined && (
        <p class="t2">
          Retries: <WithCode text={retries.replace(/(?<=`hookmill senders missed )\w+/, () => name)} />.
        </p>
      )}
    </section>
  );
}
