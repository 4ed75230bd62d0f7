import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError, exitStatus } from './exit-status.ts';

export interface GlobalOptions {
  readonly directory: string;
  readonly home?: string;
  readonly factory?: string;
  readonly server?: string;
  readonly output: 'text' | 'json';
  readonly lockTimeout: number;
}

/** Options that every command takes, before or after its name. */
export function addGlobalOptions(command: Command): Command {
  return command
    .addOption(new Option('-C, --directory <dir>', 'the definitions directory').default('.'))
    .addOption(
      new Option(
        '--home <dir>',
        'where hookmill keeps its state (default: .hookmill in the definitions directory)',
      ).env('HOOKMILL_HOME'),
    )
    .addOption(
      new Option('--factory <name>', 'the factory to work on (default: "default")').env('HOOKMILL_FACTORY'),
    )
    .addOption(
      new Option(
        '--server <url>',
        "work on a daemon's management API instead of a home, with the token in HOOKMILL_TOKEN",
      ).env('HOOKMILL_SERVER'),
    )
    .addOption(
      new Option('-o, --output <format>', 'how data is printed; markdown is for plan')
        .choices(['text', 'json', 'markdown'])
        .default('text'),
    )
    .addOption(
      new Option('--lock-timeout <seconds>', 'how long to wait for another command to finish')
        .default(10)
        .argParser(seconds),
    )
    .hook('preAction', (_, action) => refuseMarkdown(action));
}

/** A global option's choices are the same for all commands, whichever stands before or after it. */
function refuseMarkdown(action: Command): void {
  if (action.optsWithGlobals().output !== 'markdown' || action.name() === 'plan') return;
  throw new CommandError('-o markdown is for hookmill plan; use text or json', exitStatus.usage);
}

function seconds(text: string): number {
  if (!/^\d{1,6}$/.test(text))
    throw new CommandError(`"${text}" is not a number of seconds`, exitStatus.usage);
  return Number(text);
}
