import { useState } from 'preact/hooks';
import { describeOperation } from '../../../schema/clients/describe.ts';
import { callApi } from '../../api-client.ts';
import type { ListedChange, ListedToken } from '../../api-types.ts';
import { Empty, ListTable, Waiting } from '../../parts/lists.tsx';
import { Pill } from '../../parts/pills.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { ExactTime, Text, Time } from '../../parts/text.tsx';
import { nowMs } from '../../state/clock.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { useAction } from '../../state/use-action.ts';

/** The changes of a factory with who made them, and the API tokens that are valid for it. */
export function AuditPage() {
  const { factory } = useFactory();
  const tokens = useLoad(
    signal => callApi('get', '/factories/{factory}/tokens', { factory, signal }),
    [factory],
  );
  return (
    <>
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
              <span class="t3">{entry.who.kind}</span> <Text text={entry.who.name} />
            </th>
            <td>
              <Text text={entry.from} />
            </td>
            <td>
              {describeOperation(entry.operation)}
              {entry.factory === null && <span class="t3"> (all factories)</span>}
              {entry.subject && ' · '}
              <Text text={entry.subject} />
              {entry.unfinished && <span class="t3"> (unfinished: check whether it was made)</span>}
            </td>
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

/** The API tokens by their names; no answer of the API contains the tokens. */
function TokenTable({ tokens }: { readonly tokens: readonly ListedToken[] }) {
  if (tokens.length === 0) return <Empty title="No API tokens" />;
  return (
    <div class="card">
      <ListTable columns={['API token', 'Permission', 'Created', 'Expires', 'Last used']}>
        {tokens.map(({ name, factory, permission, createdAt, expiresAt, lastUsedAt }) => (
          <tr key={name}>
            <th scope="row">
              <Text text={name} />
            </th>
            <td>
              {permission}
              {factory === null && <span class="t3"> all factories</span>}
            </td>
            <td>
              <Time at={createdAt} />
            </td>
            <td>{expiresAt === null ? 'never' : <Expiry at={expiresAt} />}</td>
            <td>{lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}</td>
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

function Expiry({ at }: { readonly at: string }) {
  if (Date.parse(at) <= nowMs.value) return <Pill tone="bad">Expired</Pill>;
  return <ExactTime at={at} due />;
}
