import { useState } from 'preact/hooks';
import type { Account, ShownSession } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { Question } from '../../parts/dialog.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { type Column, Sec, Table } from '../../parts/tables.tsx';
import { ExactTime, Fact, Facts, Moment, Text, Time } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { areSettled, type Loading } from '../../state/loading.ts';
import { session } from '../../state/session.ts';
import { useAction } from '../../state/use-action.ts';
import { useApi } from '../../state/use-api.ts';
import { formatCount } from '../../text/format-values.ts';

interface SessionsProperties {
  readonly sessions: Loading<{ sessions: ShownSession[] }>;
}

/** How people sign in, who is signed in here, and the sessions that this person may end. */
export function SignInSection() {
  const sessions = useSessions();
  const provider = useApi('/sign-in', {});
  const current = sessions.value?.sessions.find(({ current }) => current);
  const account = session.value.state === 'signed-in' ? session.value.account : undefined;
  if (!areSettled(sessions, provider))
    return <Waiting error={undefined} reload={sessions.reload} what="the sign-in" />;
  return (
    <>
      <Sec title="Sign-in" />
      <ProblemNotice error={provider.error} retry={provider.reload} />
      <Facts>
        {provider.value && (
          <Fact
            term="Provider"
            value={
              provider.value.provider ? (
                <>
                  <Text text={provider.value.provider.label} />, OpenID Connect
                </>
              ) : (
                'none; people sign in with API tokens'
              )
            }
          />
        )}
        {account && (
          <Fact
            term="You"
            value={
              <>
                <Text text={account.name} />
                {account.kind === 'token' && <span class="t3"> · an API token</span>}
              </>
            }
          />
        )}
        {current && (
          <Fact
            term="Session"
            value={
              <>
                ends at the latest <ExactTime at={current.until} due />
              </>
            }
          />
        )}
        {account && <Fact term="Permission" value={account.grants.map(sayGrant)} />}
      </Facts>
      <section>
        <Sessions sessions={sessions} />
      </section>
    </>
  );
}

/** The sessions, for everybody: also for people without a factory. */
export function SessionsPage() {
  const sessions = useSessions();
  return (
    <div class="page reading">
      <PageHeading title="Sessions" />
      <Sessions sessions={sessions} />
    </div>
  );
}

function useSessions() {
  return useApi('/sessions', {});
}

function sayGrant({ factory, permission }: Account['grants'][number]) {
  return (
    <div key={factory}>
      <b>{permission}</b> {factory === null ? 'all factories' : <Text text={factory} />}
    </div>
  );
}

function Sessions({ sessions: { value, error, reload } }: SessionsProperties) {
  const [asks, setAsks] = useState(false);
  const ending = useAction(async ({ id, name }: ShownSession) => {
    await endSession(id);
    announce(`Ended a session of ${name}`);
    reload();
  });
  if (!value) return <Waiting error={error} reload={reload} what="sessions" />;
  const others = listOwnOthers(value.sessions);
  const columns: readonly Column<ShownSession>[] = [
    { head: 'Who', cell: session => <Owner session={session} /> },
    { head: 'From', class: 'no-phone', look: 'id', cell: ({ from }) => <Text text={from} /> },
    { head: 'Began', class: 'no-phone', look: 't2', cell: ({ beganAt }) => <Moment at={beganAt} /> },
    { head: 'Last used', look: 't2', cell: ({ usedAt }) => <Time at={usedAt} /> },
    {
      ...{ head: 'End', class: 'action' },
      cell: each => {
        if (each.current) return <span class="t3 small">this session</span>;
        const label = `End the session of ${each.name}`;
        const end = () => ending.run(each);
        return <Button look="small" label="End" aria-label={label} {...ending.control} onClick={end} />;
      },
    },
  ];
  return (
    <>
      <Sec title="Sessions">
        {others.length > 0 && (
          <div class="push">
            <Button look="small" label="Sign out my others…" onClick={() => setAsks(true)} />
          </div>
        )}
      </Sec>
      <ProblemNotice error={ending.error ?? error} />
      <Table columns={columns} rows={value.sessions} keyOf={({ id }) => id} />
      {asks && (
        <Question
          title={`Sign out ${formatCount(others.length, 'other session')} of yours?`}
          keep="Keep them"
          act={`End ${formatCount(others.length, 'session')}`}
          acting="Ending…"
          onAct={async () => {
            for (const { id } of others) await endSession(id);
            announce(`Ended ${formatCount(others.length, 'session')}`);
            reload();
          }}
          onClose={() => setAsks(false)}
        >
          <p>Other browsers that are signed in as you must sign in again. This one stays signed in.</p>
        </Question>
      )}
    </>
  );
}

/** The other sessions of whom the current session belongs to. */
function listOwnOthers(sessions: readonly ShownSession[]): readonly ShownSession[] {
  const own = sessions.find(({ current }) => current);
  return sessions.filter(
    ({ current, kind, name, subject }) =>
      !current && own?.kind === kind && own.name === name && own.subject === subject,
  );
}

async function endSession(id: string): Promise<void> {
  await callApi('delete', '/sessions/{session}', { session: id });
}

function Owner({ session: { kind, name, subject } }: { readonly session: ShownSession }) {
  return (
    <>
      <Text class="name" text={name} />{' '}
      <span class="t3">
        {kind === 'token' && '· API token'}
        {subject !== null && subject !== name && <Text text={`· ${subject}`} />}
      </span>
    </>
  );
}
