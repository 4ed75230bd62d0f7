import type { ListedScheme, ListedWebhook } from '../api-types.ts';
import { useSchemes } from '../state/loaded-objects.ts';
import { CopyableBlock } from './copyable.tsx';
import { Waiting } from './lists.tsx';
import { Code, Fact, Facts } from './text.tsx';

interface Properties {
  readonly webhook: ListedWebhook;
}

/** The steps to configure the sender of a webhook. */
export function SetupSteps({ webhook }: Properties) {
  switch (webhook.authMode) {
    case 'token':
      return <TokenSteps webhook={webhook} />;
    case 'url_token':
      return <UrlTokenSteps webhook={webhook} />;
    case 'oidc':
      return <OidcSteps webhook={webhook} />;
    case 'signature':
      return typeof webhook.signatureScheme === 'string' ? (
        <SchemeSteps webhook={webhook} id={webhook.signatureScheme} />
      ) : (
        <CustomSteps webhook={webhook} />
      );
  }
}

function TokenSteps({ webhook }: Properties) {
  const command = [
    `curl --fail-with-body -X POST '${webhook.url}' \\`,
    `  -H "Authorization: Bearer $${(webhook.secretName ?? '').replaceAll(/[^A-Za-z0-9_]/g, '_')}" \\`,
    `  -d '{"hello": "world"}'`,
  ].join('\n');
  return (
    <>
      <ol class="steps">
        <li>Configure the sender to POST JSON to the URL above.</li>
        <li>
          Add the header <code>Authorization: Bearer …</code> with the secret{' '}
          <Code text={webhook.secretName ?? ''} />.
        </li>
        <li>Send a test: the delivery appears under Recent deliveries.</li>
      </ol>
      <CopyableBlock text={command} what="command" />
    </>
  );
}

function OidcSteps({ webhook }: Properties) {
  return (
    <ol class="steps">
      <li>Configure the sender to POST JSON to the URL above.</li>
      <li>
        Let it get a token of <Code text={webhook.issuer ?? ''} /> with the audience{' '}
        <Code text={webhook.audience ?? ''} />, and send it as <code>Authorization: Bearer …</code>. A CI job
        can run <code>hookmill send --oidc</code>.
      </li>
      <li>The delivery appears under Recent deliveries. There is no secret to keep.</li>
    </ol>
  );
}

function UrlTokenSteps({ webhook }: Properties) {
  return (
    <ol class="steps">
      <li>
        Give the sender the URL above, with the secret <Code text={webhook.secretName ?? ''} /> in place of{' '}
        <code>{'{token}'}</code>. It needs no header.
      </li>
      <li>Treat that URL like a password: anyone who knows it can deliver.</li>
      <li>Configure the sender to POST JSON to it: the delivery appears under Recent deliveries.</li>
    </ol>
  );
}

function SchemeSteps({ webhook, id }: Properties & { readonly id: string }) {
  const { value, error, reload } = useSchemes();
  if (!value) return <Waiting error={error} reload={reload} what="the signature scheme" />;
  const scheme = value.find(known => known.id === id);
  if (!scheme) return <p>This daemon does not know the signature scheme {id}.</p>;
  // A specification is no place where a URL can be registered.
  const sender = id === 'standard-webhooks' ? 'the sender' : scheme.provider;
  const note = scheme.summary.find(({ label }) => label === 'Note');
  return (
    <>
      <ol class="steps">
        <li>At {sender}, register the URL above for JSON deliveries.</li>
        <li>{describeSecretStep(scheme, webhook)}</li>
        {note && <li>{note.text}</li>}
        <li>Send a test from {sender}: the delivery appears under Recent deliveries.</li>
      </ol>
      <p>
        <a href={scheme.page} target="_blank" rel="noreferrer">
          How {sender} signs requests
        </a>
      </p>
      <details>
        <summary>How requests are verified</summary>
        <Facts>
          {scheme.summary
            .filter(({ label }) => label !== 'Note' && label !== 'Page')
            .map(({ label, text }) => (
              <Fact key={label} term={label}>
                {text}
              </Fact>
            ))}
        </Facts>
      </details>
    </>
  );
}

function describeSecretStep(scheme: ListedScheme, { secretName }: ListedWebhook): string {
  const { id, secretCommand, secretLocation } = scheme;
  const provider = id === 'standard-webhooks' ? 'The sender' : scheme.provider;
  if (secretCommand === 'generate') return `Enter the secret ${secretName} there: ${secretLocation}.`;
  const when = secretCommand === 'declare' ? ' once it has the URL' : '';
  return `${provider} issues the secret${when}: ${secretLocation}. Enter it here if you have not yet.`;
}

function CustomSteps({ webhook }: Properties) {
  return (
    <>
      <p>The sender signs each request with the secret {webhook.secretName}, as described here:</p>
      <CopyableBlock text={JSON.stringify(webhook.signatureScheme, null, 2)} what="signature scheme" />
    </>
  );
}
