import { dayMs, hourMs } from '../../../schema/time-units.ts';
import type { ShownAlert, ShownReceiver } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Notice } from '../../parts/notice.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sign } from '../../parts/signs.tsx';
import { type Column, Sec, Table } from '../../parts/tables.tsx';
import { Code, Moment, Text, WithCode } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { hrefOfItem, isMuted } from '../../state/attention.ts';
import { readAgain } from '../../state/connection.ts';
import { useFactory } from '../../state/current-factory.ts';
import { readQuery } from '../../state/current-location.ts';
import { nowMs } from '../../state/time.ts';
import { type ActionControl, useAction } from '../../state/use-action.ts';
import { useApi } from '../../state/use-api.ts';
import { formatLength } from '../../text/format-time.ts';
import { lookOfAttention } from '../../text/looks.ts';
import { sayAlert, toSentence } from '../../text/sentences.ts';

const pastMs = 30 * dayMs;
const everyMs = 30_000;

const muteTimes = [
  ['1 hour', hourMs],
  ['8 hours', 8 * hourMs],
  ['1 day', dayMs],
  ['1 week', 7 * dayMs],
] as const;

/** What the alerts of the factory tell: what is open, and what was in the past 30 days, or is in the address. */
export function AlertsSection() {
  const { factory } = useFactory();
  const asked = readQuery().alert;
  const { value, error, reload } = useApi('/factories/{factory}/alerts', { factory }, everyMs);
  if (!value) return <Waiting error={error} reload={reload} what="alerts" />;
  const open = value.alerts.filter(({ status }) => status === 'open');
  const past = value.alerts.filter(
    ({ id, until }) => until && (id === asked || nowMs.value - Date.parse(until) < pastMs),
  );
  const isGone = asked !== undefined && !value.alerts.some(({ id }) => id === asked);
  return (
    <>
      {isGone && <Notice cause={<WithCode text={`\`${asked}\` is no longer kept.`} />} />}
      <OpenAlerts alerts={open} />
      <section>
        <Sec title="Past 30 days" />
        {past.length === 0 ? (
          <p class="t3">Nothing was resolved.</p>
        ) : (
          <Table columns={pastColumns} rows={past} keyOf={({ id }) => id} rowOf={markAsked} />
        )}
      </section>
      <section>
        <Sec title="Receivers" />
        {value.receivers.length > 0 && (
          <Table
            columns={receiverColumns}
            rows={value.receivers}
            keyOf={receiver => JSON.stringify(receiver)}
          />
        )}
        <p class="hint">
          {value.receivers.length === 0 && 'Nobody is told of alerts. '}
          Receivers are in the daemon’s configuration file, under <code>alerts</code>. They get the alerts of
          all factories.
        </p>
      </section>
    </>
  );
}

/** The row of the alert that the address names is marked, and in view. */
function markAsked({ id }: ShownAlert) {
  return id === readQuery().alert ? { 'aria-current': true as const, ref: bringIntoView } : {};
}

const bringIntoView = (row: HTMLElement | null) => row?.scrollIntoView({ block: 'nearest' });

function OpenAlerts({ alerts }: { readonly alerts: readonly ShownAlert[] }) {
  const { mayManage } = useFactory();
  const acknowledged = alerts.filter(alert => alert.acknowledged).length;
  const counts = [
    ...(alerts.length > acknowledged ? [String(alerts.length - acknowledged)] : []),
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged`] : []),
  ];
  const acting = useAction(async (change: () => Promise<ShownAlert>, told: string) => {
    await change();
    readAgain();
    announce(told);
  });
  const columns: readonly Column<ShownAlert>[] = [
    { head: 'Alert', look: 'two', cell: alert => <Told alert={alert} /> },
    {
      ...{ head: 'Since', class: 'no-phone', look: 't2 nowrap' },
      cell: ({ since }) => <Moment at={since} />,
    },
    {
      ...{ head: 'For', class: 'right no-phone', look: 't2 nowrap' },
      cell: ({ since }) => formatLength(nowMs.value - Date.parse(since)),
    },
    {
      ...{ head: 'Action', class: 'action' },
      cell: alert => (
        <span class="flow ends">
          <Marks alert={alert} />
          {mayManage && <AlertActions alert={alert} act={acting.run} control={acting.control} />}
        </span>
      ),
    },
  ];
  return (
    <>
      <Sec title="Open">
        <span class="t3">{counts.join(', and ')}</span>
      </Sec>
      <ProblemNotice error={acting.error} />
      {alerts.length === 0 ? (
        <p class="t3">Nothing is wrong.</p>
      ) : (
        <Table columns={columns} rows={alerts} keyOf={({ id }) => id} rowOf={markAsked} />
      )}
    </>
  );
}

interface ActionsProperties extends AlertProperties {
  /** Makes a change, and tells that it was made. */
  readonly act: (change: () => Promise<ShownAlert>, told: string) => void;
  readonly control: ActionControl;
}

function AlertActions({ alert, act, control }: ActionsProperties) {
  const { factory } = useFactory();
  const said = sayAlert(alert);
  const acknowledge = () =>
    callApi('post', '/factories/{factory}/alerts/{alert}/acknowledge', {
      ...{ factory, alert: alert.id, body: {} },
    });
  const mute = (forMs: number) => () =>
    callApi('post', '/factories/{factory}/alerts/{alert}/mute', {
      ...{ factory, alert: alert.id, body: { seconds: forMs / 1_000 } },
    });
  const unmute = { label: 'Unmute', onChoose: () => act(mute(0), `Unmuted: ${said}`) };
  return (
    <>
      {!alert.acknowledged && (
        <Button
          look="small"
          label="Acknowledge"
          aria-label={`Acknowledge: ${said}`}
          {...control}
          onClick={() => act(acknowledge, `Acknowledged: ${said}`)}
        />
      )}
      <Menu
        class="btn small icon quiet"
        label={`More: ${said}`}
        entries={[
          ...muteTimes.map(([label, ms]) => ({
            label: `Mute for ${label}`,
            onChoose: () => act(mute(ms), `Muted for ${label}: ${said}`),
          })),
          ...(isMuted(alert) ? [null, unmute] : []),
        ]}
      />
    </>
  );
}

interface AlertProperties {
  readonly alert: ShownAlert;
}

/** The reason of an alert, with its remedy unless a page shows that. */
function Told({ alert }: AlertProperties) {
  const { webhook, reason, remedy } = alert;
  const { factory } = useFactory();
  const [sign, word] = lookOfAttention[alert.type];
  const href = hrefOfItem({ ...alert, factory });
  const title = <Text text={sayAlert(alert)} />;
  return (
    <span class="flow sign-and-text">
      <Sign name={sign} label={word} />
      <span>
        {href === undefined ? (
          <span class="name">{title}</span>
        ) : (
          <a class="name" href={href}>
            {title}
          </a>
        )}{' '}
        <span class="t3 small">
          <WithCode
            text={`${toSentence(reason, webhook?.name)} ${href === undefined ? (remedy ?? '') : ''}`}
          />
        </span>
      </span>
    </span>
  );
}

/** Who acknowledged it and when, and until when it is muted. */
function Marks({ alert }: AlertProperties) {
  const { acknowledged, muted } = alert;
  if (!acknowledged && !isMuted(alert)) return null;
  return (
    <span class="t3 small">
      {acknowledged && (
        <span class="mark">
          <Text text={acknowledged.by} />, <Moment at={acknowledged.at} />
        </span>
      )}
      {muted && isMuted(alert) && (
        <span class="mark">
          muted until <Moment at={muted.at} />
        </span>
      )}
    </span>
  );
}

const pastColumns: readonly Column<ShownAlert>[] = [
  {
    head: 'Alert',
    cell: ({ reason }) => (
      <span class="flow sign-and-text">
        <Sign name="done" />
        <Text text={toSentence(reason)} />
      </span>
    ),
  },
  { head: 'Type', class: 'no-phone', look: 'id', cell: ({ type }) => type },
  {
    ...{ head: 'Lasted', class: 'right', look: 't2 nowrap' },
    cell: ({ since, until }) => formatLength(Date.parse(until ?? since) - Date.parse(since)),
  },
  {
    ...{ head: 'Began', class: 'right no-phone', look: 't3 small nowrap' },
    cell: ({ since }) => <Moment at={since} />,
  },
];

const receiverColumns: readonly Column<ShownReceiver>[] = [
  {
    head: 'Receiver',
    cell: ({ format, host }) =>
      host === null ? (
        <span class="t2">{format}, its URL is a team secret</span>
      ) : (
        <>
          <Code text={host} /> <span class="t3">{format}</span>
        </>
      ),
  },
  {
    ...{ head: 'Secret', class: 'no-phone' },
    cell: ({ secretName }) => secretName !== null && <Code text={secretName} />,
  },
  {
    ...{ head: 'Last message', class: 'right', look: 't2' },
    cell: ({ last }) => (last ? <LastMessage last={last} /> : <span class="t3">none yet</span>),
  },
];

function LastMessage({ last }: { readonly last: NonNullable<ShownReceiver['last']> }) {
  const { at, status, error } = last;
  return (
    <>
      <Moment at={at} />
      {status !== null && `, ${status}`}
      {error !== null && (
        <span class="bad">
          {' '}
          · <Text text={error} />
        </span>
      )}
    </>
  );
}
