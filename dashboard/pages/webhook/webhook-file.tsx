import type { ShownWebhook } from '../../api-types.ts';
import { DefinitionFileSection } from '../../parts/definition-file.tsx';
import { useFactory } from '../../state/current-factory.ts';

/** The definition file of a webhook, and what to do to change the webhook. */
export function WebhookFile({ webhook }: { readonly webhook: ShownWebhook }) {
  const { followsBranch } = useFactory();
  return (
    <DefinitionFileSection definition={webhook} name={`webhooks/${webhook.name}.yaml`}>
      <p>
        To change the webhook, edit its file {followsBranch ? 'on the production branch' : 'and apply'}.
        {followsBranch
          ? 'Keep the name of the file: a commit that renames it is not applied, because the URL would change. A change of the Enabled switch lasts until the next change on the branch is applied.'
          : 'Renaming the file replaces the webhook with a new one at a new URL. A change of the Enabled switch lasts until the next apply.'}
      </p>
      <p>
        To rotate the secret, run <code>hookmill secrets set {webhook.secretName}</code>.{' '}
        {followsBranch
          ? 'The new value takes effect when the next change on the branch is applied.'
          : 'The new value takes effect when you apply, or switch Enabled off and on.'}
      </p>
    </DefinitionFileSection>
  );
}
