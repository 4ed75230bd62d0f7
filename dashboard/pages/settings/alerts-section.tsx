import { dayMs, hourMs } from '../../../schema/time-units.ts';
import type { ShownAlert, ShownReceiver } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { ListTable, Sec, Waiting } from '../../parts/lists.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Notice } from '../../parts/notice.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Code, Moment, Text, WithCode } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { hrefOfItem, isMuted, replaceKnownAlert } from '../../state/attention.ts';
import { useFactory } from '../../state/current-factory.ts';
import { readQuery } from '../../state/current-location.ts';
import { useApi } from '../../state/loading.ts';
import { nowMs } from '../../state/time.ts';
import { type ActionControl, useAction } from '../../state/use-action.ts';
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
      <OpenAlerts alerts={open} reload={reload} />
      <section>
        <Sec title="Past 30 days" />
        {past.length === 0 ? <p class="t3">Nothing was resolved.</p> : <PastAlerts alerts={past} />}
      </section>
      <section>
        <Sec title="Receivers" />
        {value.receivers.length > 0 && <Receivers receivers={value.receivers} />}
        <p class="hint">
          {value.receivers.length === 0 && 'Nobody is told of alerts. '}
          Receivers are in the daemon’s configuration file, under <code>alerts</code>. They get the alerts of
          all factories.
        </p>
      </section>
    </>
  );
}

/** A row that is marked and in view if the address has the ID of its alert. */
function AlertRow({ id, children }: { readonly id: string; readonly children: preact.ComponentChildren }) {
  return <tr {...(id === readQuery().alert && { 'aria-current': true, ref: bringIntoView })}>{children}</tr>;
}

const bringIntoView = (row: HTMLElement | null) => row?.scrollIntoView({ block: 'nearest' });

interface OpenProperties {
  readonly alerts: readonly ShownAlert[];
  readonly reload: () => void;
}

function OpenAlerts({ alerts, reload }: OpenProperties) {
  const { factory, mayManage } = useFactory();
  const acknowledged = alerts.filter(alert => alert.acknowledged).length;
  const counts = [
    ...(alerts.length > acknowledged ? [String(alerts.length - acknowledged)] : []),
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged`] : []),
  ];
  const acting = useAction(async (change: () => Promise<ShownAlert>, told: string) => {
    replaceKnownAlert({ ...(await change()), factory });
    announce(told);
    reload();
  });
  const columns = ['Alert', ['Since', 'no-phone'], ['For', 'right no-phone'], ['Action', 'action']] as const;
  return (
    <>
      <Sec title="Open">
        <span class="t3">{counts.join(', and ')}</span>
      </Sec>
      <ProblemNotice error={acting.error} />
      {alerts.length === 0 ? (
        <p class="t3">Nothing is wrong.</p>
      ) : (
        <ListTable kind="plain" columns={columns}>
          {alerts.map(alert => (
            <OpenRow
              key={alert.id}
              alert={alert}
              actions={mayManage && <AlertActions alert={alert} act={acting.run} control={acting.control} />}
            />
          ))}
        </ListTable>
      )}
    </>
  );
}

interface ActionsProperties {
  readonly alert: ShownAlert;
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

interface RowProperties {
  readonly alert: ShownAlert;
  readonly actions: preact.ComponentChildren;
}

function OpenRow({ alert, actions }: RowProperties) {
  const { id, type, webhook, reason, remedy, since } = alert;
  const { factory } = useFactory();
  const [sign, word] = lookOfAttention[type];
  // What is shown there says what to do, too.
  const href = hrefOfItem({ type, factory, alert: { ...alert, factory } });
  const title = <Text text={sayAlert(alert)} />;
  return (
    <AlertRow id={id}>
      <td class="two">
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
      </td>
      <td class="no-phone t2 nowrap">
        <Moment at={since} />
      </td>
      <td class="no-phone right t2 nowrap">{formatLength(nowMs.value - Date.parse(since))}</td>
      <td class="action">
        <span class="flow ends">
          <Marks alert={alert} />
          {actions}
        </span>
      </td>
    </AlertRow>
  );
}

/** Who acknowledged it and when, and until when it is muted. */
function Marks({ alert }: Pick<RowProperties, 'alert'>) {
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

function PastAlerts({ alerts }: { readonly alerts: readonly ShownAlert[] }) {
  return (
    <ListTable
      kind="plain"
      columns={['Alert', ['Type', 'no-phone'], ['Lasted', 'right'], ['Began', 'right no-phone']]}
    >
      {alerts.map(alert => (
        <AlertRow key={alert.id} id={alert.id}>
          <td>
            <span class="flow sign-and-text">
              <Sign name="done" />
              <Text text={toSentence(alert.reason)} />
            </span>
          </td>
          <td class="no-phone id">{alert.type}</td>
          <td class="right t2 nowrap">
            {formatLength(Date.parse(alert.until ?? alert.since) - Date.parse(alert.since))}
          </td>
          <td class="no-phone right t3 small nowrap">
            <Moment at={alert.since} />
          </td>
        </AlertRow>
      ))}
    </ListTable>
  );
}

function Receivers({ receivers }: { readonly receivers: readonly ShownReceiver[] }) {
  return (
    <ListTable kind="plain" columns={['Receiver', ['Secret', 'no-phone'], ['Last message', 'right']]}>
      {receivers.map(({ format, host, secretName, last }, index) => (
        <tr key={index}>
          <td>
            {host === null ? (
              <span class="t2">{format}, its URL is a team secret</span>
            ) : (
              <>
                <Code text={host} /> <span class="t3">{format}</span>
              </>
            )}
          </td>
          <td class="no-phone">{secretName !== null && <Code text={secretName} />}</td>
          <td class="right t2">{last ? <LastMessage last={last} /> : <span class="t3">none yet</span>}</td>
        </tr>
      ))}
    </ListTable>
  );
}

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
