import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedChange } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { Empty, ListTable, Sec, Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { ClockTime, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { useAction } from '../../state/use-action.ts';
import { dayOf, formatDay } from '../../text/format-time.ts';
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
      {entries.length === 0 ? <Empty title="No changes yet" /> : <ChangeTable entries={entries} />}
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

function ChangeTable({ entries }: { readonly entries: readonly ListedChange[] }) {
  const zone = timeZone.value;
  return (
    <ListTable kind="plain" columns={['Change', 'Who', ['From', 'no-phone'], ['Time', 'right']]}>
      {entries.map((entry, index) => {
        const atMs = Date.parse(entry.at);
        const before = entries[index - 1];
        const isNewDay = !before || dayOf(Date.parse(before.at), zone) !== dayOf(atMs, zone);
        return (
          <Fragment key={index}>
            {isNewDay && (
              <tr>
                <th colSpan={4} scope="rowgroup" class="day-mark">
                  {formatDay(atMs, nowMs.value, zone)}
                </th>
              </tr>
            )}
            <ChangeRow entry={entry} />
          </Fragment>
        );
      })}
    </ListTable>
  );
}

function ChangeRow({ entry }: { readonly entry: ListedChange }) {
  const { operation, subject, factory, unfinished, who, from, at } = entry;
  return (
    <tr>
      <td>
        <span class="t2">{sayChange(operation)}</span> <Text class="name" text={subject} />
        {factory === null && <span class="t3"> · all factories</span>}
        {unfinished && <span class="warn"> · unfinished: check whether it was made</span>}
      </td>
      <td title={who.kind}>
        <Text text={who.name} />
      </td>
      <td class="no-phone">
        <Text class="id" text={from} />
      </td>
      <td class="right t3 small">
        <ClockTime at={at} />
      </td>
    </tr>
  );
}
