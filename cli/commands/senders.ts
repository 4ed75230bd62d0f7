import { requireNamedWebhook } from '../../operations/applied/require-applied.ts';
import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import type { Backend } from '../backend/backend.ts';
import { openBackend } from '../backend/open-backend.ts';
import { exitStatus } from '../exit-status.ts';
import { printData } from '../output.ts';
import { renderSender } from '../render/render-webhook.ts';
import { type MissedOptions, showMissed } from '../rows/show-missed.ts';
import { type RegisterOptions, registerHook } from '../senders/register-hook.ts';
import { type CliCommand, declareList } from './cli-command.ts';

type Sender = ApiAnswer<ApiRoutes['checkSender']>;

/** Declares `hookmill senders`. */
export function declareSenders(command: CliCommand): void {
  command
    .explain(`see whether providers have the webhooks as their definitions say, and register them there

Only webhooks with \`sender\` in their definition have one. Without a subcommand, lists what is known of them.

Examples:
  hookmill senders
  hookmill senders register shop
  hookmill senders missed shop`)
    .subcommands({ list, check, register, missed }, 'list');
}

const noSender = 'No webhook has a sender in its definition.';

const list = declareList({
  description: 'list what is known of the hooks at providers, without asking them',
  read: async command => {
    const { backend } = await openBackend(command);
    return (await backend.call('listSenders')).senders;
  },
  empty: noSender,
  heading: ['WEBHOOK', 'HOOK AT', 'CHECKED', 'FINDINGS'],
  toCells: ({ webhook, at, checkedAt, findings }) => [
    ...[webhook, at, checkedAt ?? 'never'],
    findings.length === 0 ? 'none' : findings.map(({ code }) => code).join(', '),
  ],
});

function check(command: CliCommand): void {
  command
    .explain(`ask providers about the hooks of webhooks; changes nothing there

Compares URL, content type, events, secret and state of each hook with the webhook and the filters of its automations.
Exit status 1 if something is wrong; a provider that does not answer is only a note.

Examples:
  hookmill senders check
  hookmill senders check shop -o json`)
    .argument('[webhook]', 'name or UID of a webhook; without it, all with a sender')
    .action(async (named: string | undefined, _options: unknown, command: CliCommand) => {
      const { backend, factory, output } = await openBackend(command);
      const uids =
        named === undefined
          ? (await backend.call('listSenders')).senders.map(({ uid }) => uid)
          : [await findUid(backend, factory, named)];
      const checked: Sender[] = [];
      for (const uid of uids) checked.push(await backend.call('checkSender', { params: { uid }, body: {} }));
      printData(output, checked, () => checked.map(renderSender).join('\n') || `${noSender}\n`);
      const isWrong = checked.some(({ findings }) => findings.some(({ severity }) => severity !== 'note'));
      if (isWrong) process.exitCode = exitStatus.problems;
    });
}

function register(command: CliCommand): void {
  command
    .explain(`create the hook of a webhook at its provider, or correct it, and verify its ping

Sets URL, content type, events, TLS verification and the secret that the webhook uses, and activates the hook. Shows the
changes first, and asks; use --yes where nobody can answer, with --take-over if the hook sends to something else so far. No
hook that was there before is deleted.

The events are those that automations wait for by the event header, and each --event. If automations take any event, an
existing hook keeps its events, and a new one needs --event; --event '*' means all events of GitHub.

At the end, the provider sends a ping: GitHub's starts a run only of automations that take any event. GitLab has none, and
sends a sample of an event, which automations may match. Exit status 1 if it was not verified within 30 seconds.

With --rotate, hookmill generates a new secret, applies it to the webhook, and gives it to the provider. The secret before stays
valid for an hour, and ends as soon as the ping was verified with the new one, so that no delivery is refused.

Examples:
  hookmill senders register shop
  hookmill senders register shop --event push --event release --yes`)
    .argument('<webhook>', 'name or UID of an applied webhook with a sender')
    .option('--event <name>', 'an event that the hook sends; may be repeated', addEvent)
    .option('--secret', 'set the secret although the last delivery was verified')
    .option('--rotate', 'give the webhook and the hook a new secret')
    .option('--yes', 'register without asking')
    .option('--take-over', 'with --yes: change also a hook that sends to something else')
    .action(async (named: string, options: RegisterOptions, command: CliCommand) => {
      const { backend, factory, output } = await openBackend(command);
      const uid = await findUid(backend, factory, named);
      await registerHook({ backend, output, uid }, options);
    });
}

function addEvent(event: string, before: readonly string[] = []): readonly string[] {
  return [...before, event];
}

function missed(command: CliCommand): void {
  command
    .explain(`list events that the provider of a webhook could not deliver, and ask it to send them again

Compares the provider's own log with the deliveries that hookmill has accepted, whatever the provider got as an answer.
Lists only events that an enabled automation could match, by what the provider lists of them, and none whose last attempt
is less than a minute old. GitHub keeps its log for 3 days, and GitLab for 7.

With --redeliver, the provider is asked for the events, the oldest first: confirm at the prompt or use --yes. That takes a
while: GitLab sends 5 a minute again, and the ingress has a rate limit. After an interruption, repeat the command. An event
that does not arrive may be asked for again after a minute, then after pauses of up to 6 hours; --again waits for none.

Examples:
  hookmill senders missed shop
  hookmill senders missed shop --since 2026-01-31T14:05Z --redeliver`)
    .argument('<webhook>', 'name or UID of the webhook')
    .option('--since <time>', 'only attempts since this time, as in 2h, 3d or 2026-01-31T14:05Z', '3d')
    .option('--all', 'also events that no enabled automation could match')
    .option('--redeliver', 'ask the provider to send them again')
    .option(
      '--again',
      'with --redeliver, also events that were asked for, did not arrive, and are not yet due again',
    )
    .option('--yes', 'do not ask')
    .action(async (webhook: string, options: MissedOptions, command: CliCommand) => {
      const { backend, factory, output } = await openBackend(command);
      await showMissed(backend, await findUid(backend, factory, webhook), options, output);
    });
}

async function findUid(backend: Pick<Backend, 'call'>, factory: string, named: string): Promise<string> {
  const { webhooks } = await backend.call('listWebhooks');
  return requireNamedWebhook({ factory, webhooks }, named).uid;
}
