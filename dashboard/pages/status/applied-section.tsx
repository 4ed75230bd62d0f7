import type { ShownStatus } from '../../api-types.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Code } from '../../parts/text.tsx';
import { ExactTime } from '../../parts/time.tsx';
import { formatCount } from '../../text/format-count.ts';

export function AppliedSection({ status }: { readonly status: ShownStatus }) {
  const { source } = status;
  return (
    <section class="card padded">
      <h2>Applied</h2>
      <Facts>
        <Fact term="Managed by">{getManagedLabel(status)}</Fact>
        <Fact term="Serial">{status.serial}</Fact>
        {status.appliedAt && (
          <Fact term="Applied at">
            <ExactTime at={status.appliedAt} />
          </Fact>
        )}
        {status.revision !== null && (
          <Fact term="Revision">
            <Code text={status.revision} />
          </Fact>
        )}
        {source?.kind === 'directory' && (
          <Fact term="Directory">
            <Code text={source.directory} />
          </Fact>
        )}
        {source?.kind === 'repository' && (
          <>
            <Fact term="Repository">
              <Code text={source.repository} />
            </Fact>
            <Fact term="Branch">
              <Code text={source.branch} />
            </Fact>
            {source.path !== '' && (
              <Fact term="Path">
                <Code text={source.path} />
              </Fact>
            )}
          </>
        )}
        <Fact term="Contents">
          {formatCount(status.webhooks, 'webhook')}, {formatCount(status.automations, 'automation')}
        </Fact>
        {status.replicas && (
          <Fact term="Served by">{formatCount(status.replicas.alive.length, 'replica')}</Fact>
        )}
      </Facts>
      {status.edited && (
        <p class="notice warn">
          Someone edited the applied state by hand. The next apply overwrites the edit.
        </p>
      )}
    </section>
  );
}

function getManagedLabel({ managedBy }: ShownStatus): string {
  if (managedBy === 'files') return 'definition files and hookmill apply';
  return managedBy === 'repository' ? 'the production branch of a repository' : 'this dashboard';
}
