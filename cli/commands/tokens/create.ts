import { type Command, Option } from 'commander';
import { type Permission, permissions } from '../../../schema/permission.ts';
import { openContext, toOpenFactory } from '../../context.ts';
import { printData, printStatus } from '../../output.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill tokens create`. */
export function declareTokensCreate(parent: Command): Command {
  return addCommand(
    parent,
    'create',
    'create an API token and print it, only once',
    `
The token works for the factory that --factory names, or for all factories with --all-factories. The dashboard asks for
it when you sign in.

Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens create monitoring --all-factories`,
  )
    .argument('<name>', 'name of the token in lists and logs')
    .addOption(
      new Option('--permission <permission>', 'what the token permits')
        .choices([...permissions])
        .default('read'),
    )
    .option('--all-factories', 'for every factory of the home')
    .action(async (name: string, { permission, allFactories }: CreateOptions, command: Command) => {
      const context = await openContext(command);
      const { createToken } = await import('../../../operations/tokens.ts');
      const factory = allFactories ? null : context.factory;
      const token = await createToken(toOpenFactory(context), { name, factory, permission });
      printData(context.output, { name, factory, permission, token }, () => `${token}\n`);
      const scope = factory === null ? 'all factories' : `the factory ${factory}`;
      printStatus(`Created ${name}, which may ${permission} ${scope}; it is shown only once.`);
    });
}

interface CreateOptions {
  readonly permission: Permission;
  readonly allFactories?: true;
}
