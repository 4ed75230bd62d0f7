import { Option } from 'commander';
import type { AlertView } from '../../operations/attention/alerts.ts';
import { describeTime } from '../../operations/health/judge-health.ts';
import { hourMs } from '../../schema/time-units.ts';
import { openBackend } from '../backend/open-backend.ts';
import { requireSpanMs } from '../input/options.ts';
import { printStatus } from '../output.ts';
import { type CliCommand, declareList } from './cli-command.ts';

/** Declares `hookmill alerts`. */
export function declareAlerts(command: CliCommand): void {
  command
    .explain(`list what is wrong and what was, and keep receivers from being told

Without a subcommand, lists them.

Examples:
  hookmill alerts
  hookmill alerts mute alr_01k10x5r0jv3m8z9qk5v7w2x4y --for 2h`)
    .subcommands({ list, acknowledge, mute, unmute }, 'list');
}

const list = declareList({
  description: 'list open alerts, and the last ones that were resolved',
  read: async command => {
    const { backend } = await openBackend(command);
    return (await backend.call('listAlerts')).alerts;
  },
  empty: 'No alerts. A daemon that serves the factory finds what is wrong.',
  heading: ['SINCE', 'STATUS', 'TYPE', 'REASON', 'ID'],
  toCells: alert => [alert.since, describeStatus(alert), alert.type, alert.reason, alert.id],
});

function describeStatus({ since, until, acknowledged, muted }: AlertView): string {
  const isMuted = muted !== null && Date.parse(muted.at) > Date.now();
  const marks = [
    until === null
      ? acknowledged === null
        ? 'open'
        : `acknowledged by ${acknowledged.by}`
      : `resolved after ${describeTime(Date.parse(until) - Date.parse(since))}`,
    ...(isMuted ? [`muted until ${muted.at} by ${muted.by}`] : []),
  ];
  return marks.join(', ');
}

function acknowledge(command: CliCommand): void {
  command
    .explain(`acknowledge an open alert: receivers are told again only when it is resolved

Examples:
  hookmill alerts acknowledge alr_01k10x5r0jv3m8z9qk5v7w2x4y
  hookmill --server https://hookmill.example.com alerts acknowledge alr_01k10x5r0jv3m8z9qk5v7w2x4y`)
    .argument('<id>', 'ID of the alert')
    .action(async (alert: string, _, command: CliCommand) => {
      const { backend } = await openBackend(command);
      const { acknowledged } = await backend.call('acknowledgeAlert', { params: { alert }, body: {} });
      printStatus(`${alert} is acknowledged by ${acknowledged?.by}.`);
    });
}

function mute(command: CliCommand): void {
  command
    .explain(`mute an alert for a time: receivers are not told that it is open, or open again

If it is still open when the time is over, receivers are told then. Those that were told already still get to know when
it is resolved.

Examples:
  hookmill alerts mute alr_01k10x5r0jv3m8z9qk5v7w2x4y
  hookmill alerts mute alr_01k10x5r0jv3m8z9qk5v7w2x4y --for 2d`)
    .argument('<id>', 'ID of the alert')
    .addOption(
      new Option('--for <time>', 'for how long, at most 30d').argParser(requireSpanMs).default(hourMs, '1h'),
    )
    .action(async (alert: string, { for: ms }: { readonly for: number }, command: CliCommand) => {
      const { backend } = await openBackend(command);
      const body = { seconds: Math.ceil(ms / 1_000) };
      const { muted } = await backend.call('muteAlert', { params: { alert }, body });
      printStatus(`${alert} is muted until ${muted?.at}.`);
    });
}

function unmute(command: CliCommand): void {
  command
    .explain(`end the muting of an alert

Examples:
  hookmill alerts unmute alr_01k10x5r0jv3m8z9qk5v7w2x4y
  hookmill --factory crm alerts unmute alr_01k10x5r0jv3m8z9qk5v7w2x4y`)
    .argument('<id>', 'ID of the alert')
    .action(async (alert: string, _, command: CliCommand) => {
      const { backend } = await openBackend(command);
      await backend.call('muteAlert', { params: { alert }, body: { seconds: 0 } });
      printStatus(`${alert} is no longer muted.`);
    });
}
