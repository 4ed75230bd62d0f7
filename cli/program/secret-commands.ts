import { type Command, Option } from 'commander';
import { permissions } from '../../schema/permission.ts';
import { addCommand } from '../commands/add-command.ts';

/** Team secrets and API tokens. */
export function addSecretCommands(program: Command): void {
  addSecrets(program);
  addTokens(program);
}

function addSecrets(program: Command): void {
  const secrets = addCommand(
    program,
    'secrets',
    'manage team secrets: the credentials that definitions name',
    `
Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets list`,
  );
  const load = () => import('../commands/secrets/set.ts');
  addCommand(
    secrets,
    'set',
    'give a team secret a value, read from standard input or a prompt',
    `
The value is standard input to its end, less one final newline. Webhooks use it once they apply again.

Examples:
  hookmill secrets set GITHUB_WEBHOOK < secret.txt
  pass show stripe/webhook | hookmill secrets set STRIPE_WEBHOOK`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name, _, command) => (await load()).set(name, command));
  addCommand(
    secrets,
    'generate',
    'give a team secret a random value and print it, once',
    `
Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets generate BILLING_EVENTS --format whsec`,
  )
    .argument('<name>', 'name of the team secret')
    .addOption(
      new Option('--format <format>', 'token: URL-safe text; whsec: as Standard Webhooks senders take it')
        .choices(['token', 'whsec'])
        .default('token'),
    )
    .action(async (name, _, command) => (await load()).generate(name, command));
  addCommand(
    secrets,
    'declare',
    'make a team secret without a value yet',
    `
For a provider that issues its secret only after it has the URL: the webhook applies and answers 401 until the
secret is set and the webhook applies again.

Examples:
  hookmill secrets declare STRIPE_WEBHOOK
  hookmill secrets declare STRIPE_WEBHOOK && hookmill apply`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name, _, command) => (await load()).declare(name, command));
  addCommand(
    secrets,
    'list',
    'list team secrets and the webhooks that use them, never values',
    `
Examples:
  hookmill secrets list
  hookmill secrets list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  addCommand(
    secrets,
    'remove',
    'remove a team secret that no webhook uses',
    `
Examples:
  hookmill secrets remove OLD_TOKEN
  hookmill --home /srv/hookmill secrets remove OLD_TOKEN`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name, _, command) => (await load()).remove(name, command));
}

function addTokens(program: Command): void {
  const tokens = addCommand(
    program,
    'tokens',
    'manage API tokens: who may use the management API and the dashboard',
    `
Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens list`,
  );
  const load = () => import('../commands/tokens/create.ts');
  addCommand(
    tokens,
    'create',
    'make an API token and print it, once',
    `
It is for one factory, unless told otherwise. Signing in to the dashboard takes one too.

Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens create monitoring --all-factories`,
  )
    .argument('<name>', 'what it is called in lists and logs')
    .addOption(
      new Option('--permission <permission>', 'what it permits').choices([...permissions]).default('read'),
    )
    .option('--all-factories', 'for every factory of the home')
    .action(async (name, _, command) => (await load()).create(name, command));
  addCommand(
    tokens,
    'list',
    'list API tokens and their last use, never the tokens',
    `
Examples:
  hookmill tokens list
  hookmill tokens list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  addCommand(
    tokens,
    'revoke',
    'revoke an API token; a running daemon refuses it at once',
    `
Examples:
  hookmill tokens revoke laptop
  hookmill --home /srv/hookmill tokens revoke laptop`,
  )
    .argument('<name>', 'name of the API token')
    .action(async (name, _, command) => (await load()).revoke(name, command));
}
