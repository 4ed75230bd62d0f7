import { useState } from 'preact/hooks';
import type { ListedChange } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { type Column, Sec, Table } from '../../parts/tables.tsx';
import { ClockTime, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { useAction } from '../../state/use-action.ts';
import { formatDay } from '../../text/format-time.ts';
import { sayChange } from '../../text/sentences.ts';

/** Who changed what, when and from where, newest first. */
export function AuditSection() {
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
  return (
    <>
      <Sec title="Audit log" />
      {entries.length === 0 ? (
        <Empty title="No changes yet" />
      ) : (
        <Table
          columns={columns}
          rows={entries}
          keyOf={entry => String(entries.indexOf(entry))}
          groupOf={({ at }) => formatDay(Date.parse(at), nowMs.value, timeZone.value)}
        />
      )}
      <ProblemNotice error={more.error} />
      {next && (
        <Button
          label={more.busy ? 'Reading…' : 'Show older changes'}
          {...more.control}
          onClick={() => more.run()}
        />
      )}
    </>
  );
}

const columns: readonly Column<ListedChange>[] = [
  { head: 'Change', cell: entry => <Change entry={entry} /> },
  {
    head: 'Who',
    cell: ({ who }) => (
      <span title={who.kind}>
        <Text text={who.name} />
      </span>
    ),
  },
  { head: 'From', class: 'no-phone', cell: ({ from }) => <Text class="id" text={from} /> },
  { head: 'Time', class: 'right', look: 't3 small', cell: ({ at }) => <ClockTime at={at} /> },
];

function Change({ entry: { operation, subject, factory, unfinished } }: { readonly entry: ListedChange }) {
  return (
    <>
      <span class="t2">{sayChange(operation)}</span> <Text class="name" text={subject} />
      {factory === null && <span class="t3"> · all factories</span>}
      {unfinished && <span class="warn"> · unfinished: check whether it was made</span>}
    </>
  );
}
