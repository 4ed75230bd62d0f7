import type { Command } from 'commander';
import { addCommand } from '../commands/add-command.ts';

/** What concerns senders and how they sign. */
export function addSenderCommands(program: Command): void {
  addSend(program);
  addSchemes(program);
}

function addSend(program: Command): void {
  addCommand(
    program,
    'send',
    'post a payload as the sender of a webhook would, signed under its scheme',
    `
Credentials come from the team secrets. A sender without a webhook here gives its scheme, and its secret on
standard input or at a prompt; for schemes with a public key that is the private key, as PKCS #8 PEM.

Examples:
  hookmill send deploys --payload deploy.json
  hookmill send --scheme stripe --to https://hooks.example.com/webhooks/w/wh_… --payload event.json < secret.txt`,
  )
    .argument('[webhook]', 'name or UID of an applied webhook')
    .requiredOption('--payload <file>', 'the request body, sent byte for byte')
    .option('--to <url>', 'where to post (default: the ingress URL of the webhook)')
    .option('--scheme <id>', 'sign under this scheme, for a sender without a webhook here')
    .option('--id <id>', "the delivery's id, for schemes and headers that carry one (default: a new one)")
    .action(async (name, _, command) => (await import('../commands/senders/send.ts')).send(name, command));
}

function addSchemes(program: Command): void {
  const schemes = addCommand(
    program,
    'schemes',
    'what is known of the providers that sign their requests',
    `
Examples:
  hookmill schemes list
  hookmill schemes show stripe`,
  );
  const load = () => import('../commands/senders/schemes-show.ts');
  addCommand(
    schemes,
    'list',
    'list the signature schemes',
    `
Examples:
  hookmill schemes list
  hookmill schemes list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  addCommand(
    schemes,
    'show',
    'show what a provider signs, where its secret is, and an example definition',
    `
Examples:
  hookmill schemes show stripe
  hookmill schemes show github -o json`,
  )
    .argument('<id>', 'id of the signature scheme')
    .action(async (id, _, command) => (await load()).show(id, command));
}
