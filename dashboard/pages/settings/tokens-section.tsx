import { useState } from 'preact/hooks';
import { type Permission, permissions } from '../../../schema/grant.ts';
import { dayMs } from '../../../schema/time-units.ts';
import type { CreatedToken, ListedToken } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button, Segments } from '../../parts/controls.tsx';
import { FormDialog, Question } from '../../parts/dialog.tsx';
import { Field } from '../../parts/fields.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { RevealedOnce } from '../../parts/revealed-once.tsx';
import { type Column, Sec, Table } from '../../parts/tables.tsx';
import { At, Text, Time } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { mayManage } from '../../state/session.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { useApi } from '../../state/use-api.ts';
import { formatDate, formatRelativeTime } from '../../text/format-time.ts';

/** Time without use after which a token is probably forgotten, and time before its end to replace it, in ms. */
const forgottenMs = 30 * dayMs;
const endsSoonMs = 14 * dayMs;

const expiries = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['never', 'Never'],
] as const;

const permissionTexts = {
  read: 'Sees everything except secrets, and changes nothing.',
  manage: 'Changes webhooks and automations, and acts on deliveries and runs.',
} as const;

/** The API tokens that are valid for the factory, by their names; each is shown only once, when it is created. */
export function TokensSection() {
  const { factory } = useFactory();
  const { value, error, reload } = useApi('/factories/{factory}/tokens', { factory });
  const [creates, setCreates] = useState(false);
  const [created, setCreated] = useState<CreatedToken>();
  const [revoked, setRevoked] = useState<ListedToken>();
  if (!value) return <Waiting error={error} reload={reload} what="API tokens" />;
  return (
    <>
      <Sec title="API tokens">
        <div class="push">
          <Button look="small" label="Create token…" onClick={() => setCreates(true)} />
        </div>
      </Sec>
      <ProblemNotice error={error} />
      {value.tokens.length === 0 ? (
        <Empty title="No API tokens" />
      ) : (
        <Table columns={listColumns(setRevoked)} rows={value.tokens} keyOf={({ name }) => name} />
      )}
      {creates && (
        <CreateDialog
          onCreated={token => {
            setCreates(false);
            setCreated(token);
            reload();
          }}
          onClose={() => setCreates(false)}
        />
      )}
      {created && (
        <RevealedOnce
          kind="token"
          title={`API token ${created.name}`}
          generated={{ secret: created.token }}
          onStored={() => setCreated(undefined)}
        />
      )}
      {revoked && <RevokeQuestion token={revoked} reload={reload} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function listColumns(onRevoke: (token: ListedToken) => void): readonly Column<ListedToken>[] {
  return [
    { head: 'Name', look: 'name', cell: ({ name }) => <Text text={name} /> },
    {
      head: 'Permission',
      cell: ({ permission }) => <span class={permission === 'read' ? 't2' : ''}>{permission}</span>,
    },
    {
      ...{ head: 'Factory', class: 'no-phone', look: 't2' },
      cell: ({ factory }) => (factory === null ? 'all' : <Text text={factory} />),
    },
    { head: 'Created', class: 'no-phone', look: 't2', cell: ({ createdAt }) => <Day at={createdAt} /> },
    { head: 'Last used', class: 'no-phone', cell: token => <LastUse token={token} /> },
    {
      ...{ head: 'Expires', class: 'right', look: 't2' },
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Expiry at={expiresAt} />),
    },
    {
      ...{ head: 'Revoke', class: 'action' },
      cell: token =>
        mayManage(token.factory) && (
          <Button
            look="small"
            label="Revoke…"
            aria-label={`Revoke ${token.name}…`}
            onClick={() => onRevoke(token)}
          />
        ),
    },
  ];
}

function LastUse({ token: { lastUsedAt, createdAt } }: { readonly token: ListedToken }) {
  const isForgotten = nowMs.value - Date.parse(lastUsedAt ?? createdAt) > forgottenMs;
  return (
    <span class={isForgotten ? 'warn' : 't2'}>
      {lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}
    </span>
  );
}

function Day({ at }: { readonly at: string }) {
  return <At at={at} say={atMs => formatDate(atMs, nowMs.value, timeZone.value)} />;
}

function Expiry({ at }: { readonly at: string }) {
  const leftMs = Date.parse(at) - nowMs.value;
  if (leftMs <= 0) return <span class="bad">expired</span>;
  if (leftMs > endsSoonMs) return <Day at={at} />;
  return <At class="warn" at={at} say={atMs => formatRelativeTime(atMs, nowMs.value)} />;
}

interface CreateProperties {
  readonly onCreated: (token: CreatedToken) => void;
  readonly onClose: () => void;
}

function CreateDialog({ onCreated, onClose }: CreateProperties) {
  const { factory } = useFactory();
  const [name, setName] = useState('');
  const [permission, setPermission] = useState<Permission>('read');
  const [expiry, setExpiry] = useState<(typeof expiries)[number][0]>('90');
  const [allFactories, setAllFactories] = useState(false);
  const create = async () => {
    const ends = expiry === 'never' ? undefined : (Number(expiry) * dayMs) / 1_000;
    const body = { name, permission, allFactories, expiresInSeconds: ends };
    onCreated(await callApi('post', '/factories/{factory}/tokens', { factory, body }));
  };
  return (
    <FormDialog title="Create an API token" action="Create token" onSubmit={create} onClose={onClose}>
      <Field label="Name" hint="What it is for, such as ci-plan. Lists and the audit log name it.">
        {ids => (
          <input
            {...ids}
            class="input"
            required
            maxLength={63}
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={event => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="field">
        <span class="label">Permission</span>
        <div>
          <Segments
            label="Permission"
            value={permission}
            options={permissions.map(each => [each, each] as const)}
            onChange={setPermission}
          />
        </div>
        <p class="hint">{permissionTexts[permission]}</p>
      </div>
      <div class="field">
        <span class="label">Expires after</span>
        <div>
          <Segments label="Expires after" value={expiry} options={expiries} onChange={setExpiry} />
        </div>
      </div>
      {mayManage(null) && (
        <label class="choice">
          <input
            type="checkbox"
            checked={allFactories}
            onChange={event => setAllFactories(event.currentTarget.checked)}
          />
          For all factories
        </label>
      )}
    </FormDialog>
  );
}

interface RevokeProperties {
  readonly token: ListedToken;
  readonly reload: () => void;
  readonly onClose: () => void;
}

function RevokeQuestion({ token: { name, factory: scope, lastUsedAt }, reload, onClose }: RevokeProperties) {
  const { factory } = useFactory();
  return (
    <Question
      title={`Revoke ${name}?`}
      keep="Keep it"
      act={`Revoke ${name}`}
      acting="Revoking…"
      isDangerous
      onAct={async () => {
        await callApi('delete', '/factories/{factory}/tokens/{token}', { factory, token: name });
        announce(`Revoked ${name}`);
        reload();
      }}
      onClose={onClose}
    >
      <p>
        Its next request is refused{scope === null && ', in all factories'}, and the sessions that began with
        it end. It was last used: {lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}. A revoked token
        cannot come back.
      </p>
    </Question>
  );
}
