import { callApi } from '../../api-client.ts';
import type { ShownSession } from '../../api-types.ts';
import { ListTable, Waiting } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Pill } from '../../parts/pills.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Text, Time } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useLoad } from '../../state/loading.ts';
import { useAction } from '../../state/use-action.ts';

/** The sessions of the user, and of those whose factories the user may manage. Each can be ended but the current one. */
export function SessionsPage() {
  const { value, error, reload } = useLoad(signal => callApi('get', '/sessions', { signal }), []);
  const ending = useAction(async ({ id, name }: ShownSession) => {
    await callApi('delete', '/sessions/{session}', { session: id });
    announce(`Ended a session of ${name}`);
    reload();
  });
  if (!value) return <Waiting error={error} reload={reload} what="sessions" />;
  return (
    <>
      <PageHeading title="Sessions" />
      <ProblemNotice error={ending.error ?? error} />
      <div class="card">
        <ListTable columns={['Who', 'From', 'Began', 'Last used', 'State']}>
          {value.sessions.map(session => (
            <tr key={session.id}>
              <th scope="row">
                <span class="t3">{session.kind}</span> <Text text={session.name} />
                {session.subject !== null && session.subject !== session.name && (
                  <span class="t3">
                    {' '}
                    (<Text text={session.subject} />)
                  </span>
                )}
              </th>
              <td>
                <Text text={session.from} />
              </td>
              <td>
                <Time at={session.beganAt} />
              </td>
              <td>
                <Time at={session.usedAt} />
              </td>
              <td>
                {session.current ? (
                  <Pill tone="quiet">this session</Pill>
                ) : (
                  <button
                    type="button"
                    aria-label={`End the session of ${session.name}`}
                    disabled={ending.busy}
                    onClick={() => ending.run(session)}
                  >
                    End
                  </button>
                )}
              </td>
            </tr>
          ))}
        </ListTable>
      </div>
    </>
  );
}
