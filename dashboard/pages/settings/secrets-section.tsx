import type { ListedSecret } from '../../api-answers.ts';
import { CopyableLine, CopyButton } from '../../parts/copyable.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { State } from '../../parts/signs.tsx';
import { type Column, Sec, Table } from '../../parts/tables.tsx';
import { Code, Moment, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import type { Loading } from '../../state/loading.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { formatMoment } from '../../text/format-time.ts';
import { inFactory } from '../../text/sentences.ts';

interface Properties {
  readonly secrets: Loading<ListedSecret[]>;
}

/** The team secrets that the factory may use. Their values are set by commands, and nothing shows them. */
export function SecretsSection({ secrets: { value, error, reload } }: Properties) {
  const { factory, mayManage } = useFactory();
  if (!value) return <Waiting error={error} reload={reload} what="team secrets" />;
  return (
    <>
      <Sec title="Team secrets" />
      {value.length === 0 ? (
        <Empty title="No team secrets" />
      ) : (
        <Table columns={columns} rows={value} keyOf={({ name }) => name} />
      )}
      {mayManage && (
        <div class="stack commands">
          <p class="hint">
            Values are set by a command, which asks for the value. They are stored encrypted and never shown.
          </p>
          <CopyableLine text={setCommand('NAME', factory)} what="command" isCommand />
        </div>
      )}
    </>
  );
}

const columns: readonly Column<ListedSecret>[] = [
  { head: 'Team secret', look: 'name', cell: ({ name }) => <Code text={name} /> },
  { head: 'Value', cell: secret => <Value secret={secret} /> },
  { head: 'Used by', class: 'no-phone', look: 't2', cell: secret => <Users secret={secret} /> },
  {
    ...{ head: 'Changed', class: 'right no-phone', look: 't3 small' },
    cell: ({ updatedAt }) => updatedAt && <Moment at={updatedAt} />,
  },
];

interface SecretProperties {
  readonly secret: ListedSecret;
}

function Value({ secret }: SecretProperties) {
  const { factory, mayManage } = useFactory();
  const { name } = secret;
  return (
    <div class="flow">
      <ShownValue secret={secret} />
      {mayManage && lacksValue(secret) && (
        <CopyButton text={setCommand(name, factory)} what={`command that sets ${name}`} kind="icon" />
      )}
    </div>
  );
}

function Users({ secret: { usedBy, usedByBranch, usedElsewhere } }: SecretProperties) {
  const users = [
    ...usedBy,
    ...(usedByBranch ? ['the branch'] : []),
    ...(usedElsewhere ? ['other factories'] : []),
  ];
  return users.length === 0 ? <span class="t3">nothing</span> : <Text text={users.join(', ')} />;
}

function ShownValue({ secret: { state, from, previousUntil } }: SecretProperties) {
  const overlap = previousUntil && (
    <span class="t3">
      , the one before until {formatMoment(Date.parse(previousUntil), nowMs.value, timeZone.value)}
    </span>
  );
  switch (state) {
    case 'missing':
      return <State sign="warning">missing</State>;
    case 'declared':
      return <State sign="warning">no value yet</State>;
    case 'reference':
      return from ? (
        <Code text={from} />
      ) : (
        <State sign="warning">cannot be read: another key sealed it</State>
      );
    case 'set':
      return <span class="t2">set{overlap}</span>;
  }
}

/** Whether a webhook or the branch cannot work because the secret has no value. */
export function lacksValue({ state, usedBy, usedByBranch }: ListedSecret): boolean {
  return (state === 'missing' || state === 'declared') && (usedBy.length > 0 || usedByBranch);
}

function setCommand(name: string, factory: string): string {
  return inFactory(`hookmill secrets set ${name}`, factory);
}
