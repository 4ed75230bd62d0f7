import { useState } from 'preact/hooks';
import { describeOperation } from '../../../schema/describe-operation.ts';
import { callApi } from '../../api-client.ts';
import type { ListedChange } from '../../api-types.ts';
import { Empty } from '../../parts/empty.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Text } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useAction } from '../../state/use-action.ts';
import { useLoad } from '../../state/use-load.ts';
import { TokenTable } from './token-table.tsx';

/** The changes of a factory with who made them, and the API tokens that are valid for it. */
export function AuditPage() {
  const { factory } = useFactory();
  const tokens = useLoad(
    signal => callApi('get', '/factories/{factory}/tokens', { factory, signal }),
    [factory],
  );
  return (
    <>
      <PageHeading title="Audit log" />
      <Changes />
      <section aria-labelledby="tokens">
        <div class="section-heading">
          <h2 id="tokens">API tokens</h2>
        </div>
        {tokens.value ? (
          <TokenTable tokens={tokens.value.tokens} />
        ) : (
          <Waiting error={tokens.error} reload={tokens.reload} what="API tokens" />
        )}
      </section>
    </>
  );
}

function Changes() {
  const { factory } = useFactory();
  const read = (cursor?: string, signal?: AbortSignal) =>
    callApi('get', '/factories/{factory}/audit', { factory, query: { cursor }, signal });
  const newest = useLoad(signal => read(undefined, signal), [factory]);
  const [older, setOlder] = useState<Awaited<ReturnType<typeof read>>[]>([]);
  const pages = newest.value ? [newest.value, ...older] : [];
  const next = pages.at(-1)?.next;
  const more = useAction(async () => setOlder([...older, await read(next ?? undefined)]));
  if (!newest.value) return <Waiting error={newest.error} reload={newest.reload} what="the audit log" />;
  const entries = pages.flatMap(({ entries }) => entries);
  if (entries.length === 0) return <Empty title="No changes yet" />;
  return (
    <>
      <ChangeTable entries={entries} />
      <ProblemNotice error={more.error} />
      {next && (
        <button type="button" disabled={more.busy} onClick={() => more.run()}>
          Show older changes
        </button>
      )}
    </>
  );
}

function ChangeTable({ entries }: { readonly entries: readonly ListedChange[] }) {
  return (
    <div class="card">
      <ListTable columns={['When', 'Who', 'From', 'Change']}>
        {entries.map((entry, index) => (
          <tr key={index}>
            <td>
              <Time at={entry.at} />
            </td>
            <th scope="row">
              <span class="muted">{entry.who.kind}</span> <Text text={entry.who.name} />
            </th>
            <td>
              <Text text={entry.from} />
            </td>
            <td>
              {describeOperation(entry.operation)}
              {entry.factory === null && <span class="muted"> (all factories)</span>}
              {entry.subject && ' · '}
              <Text text={entry.subject} />
              {entry.unfinished && <span class="muted"> (unfinished: check whether it was made)</span>}
            </td>
          </tr>
        ))}
      </ListTable>
    </div>
  );
}
