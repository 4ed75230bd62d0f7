import { Option } from 'commander';
import { type Permission, permissions, tokenSecondsMax } from '../../schema/grant.ts';
import { openBackend } from '../backend/open-backend.ts';
import { UsageError } from '../exit-status.ts';
import { parseSpanMs } from '../input/options.ts';
import { printData, printStatus } from '../output.ts';
import { type CliCommand, declareList } from './cli-command.ts';

interface CreateOptions {
  readonly permission: Permission;
  readonly allFactories?: true;
  readonly expires?: number;
}

/** Declares `hookmill tokens`. */
export function declareTokens(command: CliCommand): void {
  command
    .explain(`manage API tokens for the management API and the dashboard

Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens list`)
    .subcommands({ create, list, revoke });
}

function create(command: CliCommand): void {
  command
    .explain(`create an API token and print it, only once

The token works for the factory that --factory names, or for all factories with --all-factories. The dashboard asks for
it when you sign in.

Examples:
  hookmill tokens create laptop --permission manage --expires 90d
  hookmill tokens create monitoring --all-factories`)
    .argument('<name>', 'name of the token in lists and logs')
    .addOption(
      new Option('--permission <permission>', 'what the token permits')
        .choices([...permissions])
        .default('read'),
    )
    .option('--all-factories', 'for every factory of the home')
    .option('--expires <time>', 'time after which the token is refused, such as 90d', parseLifeMs)
    .action(
      async (name: string, { permission, allFactories, expires }: CreateOptions, command: CliCommand) => {
        const { backend, output } = await openBackend(command);
        const expiresInSeconds = expires === undefined ? undefined : Math.ceil(expires / 1_000);
        const body = { name, permission, allFactories: allFactories ?? false, expiresInSeconds };
        const created = await backend.call('createToken', { body });
        printData(output, created, () => `${created.token}\n`);
        const scope = created.factory === null ? 'all factories' : `the factory ${created.factory}`;
        const until = created.expiresAt === null ? '' : ` until ${created.expiresAt}`;
        printStatus(`Created ${name}, which may ${permission} ${scope}${until}; it is shown only once.`);
      },
    );
}

function parseLifeMs(text: string): number {
  const ms = parseSpanMs(text);
  if (ms && ms <= tokenSecondsMax * 1_000) return ms;
  throw new UsageError(`"${text}" is not a time up to 10 years; write it as in 12h, 90d or 52w`);
}

const list = declareList({
  description: 'list API tokens and their last use, never the tokens',
  read: async command => {
    const { backend, store } = await openBackend(command);
    if (!store) return (await backend.call('listTokens')).tokens;
    const { listTokens } = await import('../../operations/access/tokens.ts');
    return listTokens(store);
  },
  empty: 'No API tokens. Run `hookmill tokens create NAME` to create one.',
  heading: ['NAME', 'FACTORY', 'PERMISSION', 'CREATED', 'EXPIRES', 'LAST USED'],
  toCells: ({ name, factory, permission, createdAt, expiresAt, lastUsedAt }) => {
    return [name, factory ?? 'all', permission, createdAt, expiresAt ?? 'never', lastUsedAt ?? 'never'];
  },
});

function revoke(command: CliCommand): void {
  command
    .explain(`revoke an API token; a running daemon refuses it at once

Examples:
  hookmill tokens revoke laptop
  hookmill --server https://hookmill.example.com tokens revoke laptop`)
    .argument('<name>', 'name of the API token')
    .action(async (name: string, _, command: CliCommand) => {
      const { backend } = await openBackend(command);
      await backend.call('revokeToken', { params: { token: name } });
      printStatus(`Revoked ${name}: its next request is refused, and its sessions end.`);
    });
}
