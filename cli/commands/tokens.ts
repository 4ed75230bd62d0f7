import { Option } from 'commander';
import { type Permission, permissions } from '../../schema/grant.ts';
import { dayMs } from '../../schema/time-units.ts';
import { openContext, toOpenFactory } from '../context.ts';
import { UsageError } from '../exit-status.ts';
import { parseSpanMs } from '../input/parse-time.ts';
import { printData, printStatus } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { requireHome } from '../require-home.ts';
import type { CliCommand } from './cli-command.ts';
import { declareList } from './declare-list.ts';

/** @limit Longest time until an API token expires, in ms (10 years): a longer one is probably a mistake. */
const tokenLifeMsMax = 3_650 * dayMs;

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
        const context = await openContext(command);
        const { createToken } = await import('../../operations/access/sessions.ts');
        const factory = allFactories ? null : context.factory;
        const expiresAt = expires === undefined ? null : new Date(Date.now() + expires).toISOString();
        const subject = `${name} (${permission})`;
        const token = await recordOwnChange({ ...context, factory }, 'createToken', subject, () =>
          createToken(toOpenFactory(context), { name, factory, permission, expiresAt }),
        );
        printData(context.output, { name, factory, permission, expiresAt, token }, () => `${token}\n`);
        const scope = factory === null ? 'all factories' : `the factory ${factory}`;
        const until = expiresAt === null ? '' : ` until ${expiresAt}`;
        printStatus(`Created ${name}, which may ${permission} ${scope}${until}; it is shown only once.`);
      },
    );
}

function parseLifeMs(text: string): number {
  const ms = parseSpanMs(text);
  if (ms && ms <= tokenLifeMsMax) return ms;
  throw new UsageError(`"${text}" is not a time up to 10 years; write it as in 12h, 90d or 52w`);
}

const list = declareList({
  description: 'list API tokens and their last use, never the tokens',
  read: async command => {
    const { store } = await openContext(command);
    const { listTokens } = await import('../../operations/access/sessions.ts');
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
  hookmill --home /srv/hookmill tokens revoke laptop`)
    .argument('<name>', 'name of the API token')
    .action(async (name: string, _, command: CliCommand) => {
      const { store } = await openContext(command);
      requireHome(store.place);
      const all = { store, factory: null };
      await recordOwnChange(all, 'revokeToken', name, () => store.apiTokens.revoke(name));
      printStatus(`Revoked ${name}: its next request is refused, and its sessions end.`);
    });
}
