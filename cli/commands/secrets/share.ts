import type { Command } from 'commander';
import { openContext, requireFactoryName } from '../../context.ts';
import { UsageError } from '../../exit-status.ts';
import { printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill secrets share`. */
export function declareSecretsShare(parent: Command): Command {
  return addCommand(
    parent,
    'share',
    'let other factories use a team secret',
    `
A team secret is for the factory in which it was created. Whoever manages that factory can change its value in the
dashboard; once it is shared, only this command line can.

Examples:
  hookmill secrets share GIT_READ billing shop
  hookmill secrets share GIT_READ billing --only`,
  )
    .argument('<name>', 'name of the team secret')
    .argument('[factories...]', 'the factories that may use it too')
    .option('--all-factories', 'every factory of the home, also later ones')
    .option('--only', 'no other factory may use it any more')
    .action(async (name: string, given: string[], options: ShareOptions, command: Command) => {
      const { allFactories = false, only = false } = options;
      if (allFactories === given.length > 0) throw new UsageError('name factories, or use --all-factories');
      for (const factory of given) requireFactoryName(factory);
      const context = await openContext(command);
      requireHome(context.store.place);
      const { shareSecret } = await import('../../../operations/secrets.ts');
      const factories = allFactories ? 'All factories' : given.join(', ');
      const shared = `${factories} may now use ${name}${only ? ', and no other factory' : ''}`;
      await recordOwnChange({ ...context, factory: null }, 'shareSecret', shared, () =>
        shareSecret(context.store, name, allFactories ? null : given, only),
      );
      printStatus(`${shared}.`);
    });
}

interface ShareOptions {
  readonly allFactories?: true;
  readonly only?: true;
}
