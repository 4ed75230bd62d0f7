import { shortenRevision } from '../../../schema/clients/describe.ts';
import type { ShownStatus, ShownWebhook } from '../../api-answers.ts';
import { LinkButton } from '../../parts/controls.tsx';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { DiffBlock } from '../../parts/diff-block.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Code, Text, Time } from '../../parts/text.tsx';
import { factoryStatus } from '../../state/attention.ts';
import { useFactory } from '../../state/current-factory.ts';

/** The definition file of a webhook, where it comes from, and how to change the webhook. */
export function DefinitionTab({ webhook }: { readonly webhook: ShownWebhook }) {
  const { managedHere, revision, followsBranch } = useFactory();
  const { name, file, yaml } = webhook;
  const status = factoryStatus.value;
  const path = file ?? `webhooks/${name}.yaml`;
  const onGitHub = status && file !== null ? findOnGitHub(status, file) : undefined;
  return (
    <div class="stack">
      {status && <Drift status={status} webhook={webhook} />}
      <p class="flow wrap t2">
        {managedHere ? (
          <>The webhook is managed in the dashboard. As a file, it would be this.</>
        ) : (
          <span>
            Defined in <Code text={path} />
            {revision !== null && (
              <>
                {' '}
                at commit <Code text={shortenRevision(revision)} />
              </>
            )}
          </span>
        )}
        {onGitHub !== undefined && (
          <LinkButton
            look="small"
            icon="external"
            label="Open in GitHub"
            href={onGitHub}
            target="_blank"
            rel="noreferrer"
          />
        )}
      </p>
      <CopyableBlock text={yaml} what={path} />
      {!managedHere && (
        <p class="t2">
          To change the webhook, edit its file {followsBranch ? 'on the production branch' : 'and apply'}.{' '}
          {followsBranch
            ? 'Keep the name of the file: a commit that renames it is not applied, because the URL would change.'
            : 'Renaming the file replaces the webhook with a new one at a new URL.'}
        </p>
      )}
      {!managedHere && <RotateInFile webhook={webhook} />}
    </div>
  );
}

function RotateInFile({ webhook: { secretName, authMode } }: { readonly webhook: ShownWebhook }) {
  const { followsBranch } = useFactory();
  if (secretName === null) return null;
  return (
    <p class="t2">
      To rotate the secret, run{' '}
      <code>
        hookmill secrets {authMode === 'signature' ? 'set' : 'generate'} {secretName}
        {authMode === 'url_token' ? '' : ' --overlap 2h'}
      </code>
      .{' '}
      {followsBranch
        ? 'The new value takes effect when the next change on the branch is applied.'
        : 'The new value takes effect when you apply, or disable and enable the webhook.'}
    </p>
  );
}

/** Says that somebody enabled or disabled the webhook against its file. */
function Drift({ status, webhook }: { readonly status: ShownStatus; readonly webhook: ShownWebhook }) {
  const { followsBranch } = useFactory();
  const change = status.changedByHand.find(changed => changed.webhook.uid === webhook.uid);
  if (!change) return null;
  const [is, says] = webhook.enabled ? ['enabled', 'disabled'] : ['disabled', 'enabled'];
  return (
    <Notice
      tone="warn"
      cause={
        <>
          Drift: {change.who ? <Text text={change.who.name} /> : 'somebody'} {is} it <Time at={change.at} />.
        </>
      }
    >
      The file says {says}. {followsBranch ? 'The next commit that is applied' : 'The next apply'} undoes the
      change.
      <DiffBlock
        lines={[
          { mark: '-', text: `enabled: ${!webhook.enabled}` },
          { mark: '+', text: `enabled: ${webhook.enabled}` },
        ]}
      />
    </Notice>
  );
}

/** The address of a definition file at GitHub, at the applied commit; undefined if the branch is elsewhere. */
function findOnGitHub({ source }: ShownStatus, file: string): string | undefined {
  if (source?.kind !== 'repository') return undefined;
  const [, repository] =
    /^(?:https:\/\/(?:[^@/]+@)?github\.com\/|(?:ssh:\/\/)?git@github\.com[:/])([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(
      source.repository,
    ) ?? [];
  if (repository === undefined) return undefined;
  return `https://github.com/${repository}/blob/${source.revision}/${file.split('/').map(encodeURIComponent).join('/')}`;
}
