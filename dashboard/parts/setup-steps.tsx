import { callApi } from '../api-client.ts';
import type { Scheme, Webhook } from '../api-types.ts';
import { useLoad } from '../state/use-load.ts';
import { CopyableBlock } from './copyable.tsx';
import { Waiting } from './problem-notice.tsx';
import { Code } from './text.tsx';

/** What is left to do at the sender, for whoever has just made the webhook. */
export function SetupSteps({ webhook }: { readonly webhook: Webhook }) {
  switch (webhook.authMode) {
    case 'token':
      return <TokenSteps webhook={webhook} />;
    case 'url_token':
      return <UrlTokenSteps webhook={webhook} />;
    case 'signature':
      return typeof webhook.signatureScheme === 'string' ? (
        <SchemeSteps webhook={webhook} id={webhook.signatureScheme} />
      ) : (
        <CustomSteps webhook={webhook} />
      );
  }
}

function TokenSteps({ webhook }: { readonly webhook: Webhook }) {
  const command = [
    `curl --fail-with-body -X POST '${webhook.url}' \\`,
    `  -H "Authorization: Bearer $${webhook.secretName.replaceAll(/[^A-Za-z0-9_]/g, '_')}" \\`,
    `  -d '{"hello": "world"}'`,
  ].join('\n');
  return (
    <>
      <ol class="steps">
        <li>Let the sender POST JSON to the URL above.</li>
        <li>
          Let it send the header <code>Authorization: Bearer …</code> with the secret{' '}
          <Code text={webhook.secretName} />.
        </li>
        <li>Try it; the delivery shows under Recent deliveries.</li>
      </ol>
      <CopyableBlock text={command} what="command" />
    </>
  );
}

function UrlTokenSteps({ webhook }: { readonly webhook: Webhook }) {
  return (
    <ol class="steps">
      <li>
        Give the sender the URL above, with the secret <Code text={webhook.secretName} /> in place of{' '}
        <code>{'{token}'}</code>. It needs no header.
      </li>
      <li>Treat that URL as a password: who knows it can deliver.</li>
      <li>Let the sender POST JSON to it; the delivery shows under Recent deliveries.</li>
    </ol>
  );
}

function SchemeSteps({ webhook, id }: { readonly webhook: Webhook; readonly id: string }) {
  const { value, error, reload } = useLoad(signal => callApi('get', '/schemes', { signal }), []);
  if (!value) return <Waiting error={error} reload={reload} what="the scheme" />;
  const scheme = value.schemes.find(known => known.id === id);
  if (!scheme) return <p>The scheme {id} is not known to this daemon.</p>;
  const note = scheme.summary.find(({ label }) => label === 'Note');
  return (
    <>
      <ol class="steps">
        <li>At {scheme.provider}, register the URL above for JSON deliveries.</li>
        <li>{secretStep(scheme, webhook)}</li>
        {note && <li>{note.text}</li>}
        <li>Let {scheme.provider} send a test; the delivery shows under Recent deliveries.</li>
      </ol>
      <p>
        <a href={scheme.page} target="_blank" rel="noreferrer">
          {scheme.provider}: how it signs
        </a>
      </p>
      <details>
        <summary>How requests are verified</summary>
        <dl class="facts">
          {scheme.summary
            .filter(({ label }) => label !== 'Note' && label !== 'Page')
            .map(({ label, text }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{text}</dd>
              </div>
            ))}
        </dl>
      </details>
    </>
  );
}

function secretStep({ provider, secretCommand, secretLocation }: Scheme, { secretName }: Webhook): string {
  if (secretCommand === 'generate') {
    return `Enter the secret ${secretName} there: ${secretLocation}.`;
  }
  const when = secretCommand === 'declare' ? 'once it has the URL' : 'on its own';
  return `${provider} issues the secret ${when}: ${secretLocation}. Supply it here, if you have not yet.`;
}

function CustomSteps({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <p>The sender signs each request with the secret {webhook.secretName}, as described here:</p>
      <CopyableBlock text={JSON.stringify(webhook.signatureScheme, null, 2)} what="signature scheme" />
    </>
  );
}
