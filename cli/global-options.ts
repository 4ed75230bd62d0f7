import { type Command, Option } from 'commander';
import { UsageError } from './exit-status.ts';

export interface GlobalOptions {
  readonly directory: string;
  readonly home?: string;
  readonly store?: string;
  readonly factory?: string;
  readonly server?: string;
  readonly output: 'text' | 'json';
  readonly lockTimeout: number;
}

/** The place that a command works on, from the global options, the environment and hookmill.yaml. */
export interface Place {
  /** The definitions directory, absolute. */
  readonly directory: string;
  readonly factory: string;
  readonly output: 'text' | 'json';
}

/** Adds the options that every command accepts, before or after its name. */
export function addGlobalOptions(command: Command): Command {
  return command
    .addOption(new Option('-C, --directory <dir>', 'the definitions directory').default('.'))
    .addOption(
      new Option(
        '--home <dir>',
        'directory of state and secrets (default: .hookmill in the definitions directory)',
      ).env('HOOKMILL_HOME'),
    )
    .addOption(
      new Option(
        '--store <url>',
        'PostgreSQL database for state and secrets instead of the home: postgres://user@host/database, without a password',
      ).env('HOOKMILL_STORE'),
    )
    .addOption(
      new Option('--factory <name>', 'the factory to work on (default: "default")').env('HOOKMILL_FACTORY'),
    )
    .addOption(
      new Option(
        '--server <url>',
        'use the management API of a daemon instead of a home; its token comes from HOOKMILL_TOKEN, or from the host of a CI job',
      ).env('HOOKMILL_SERVER'),
    )
    .addOption(
      new Option(
        '-o, --output <format>',
        'output format; markdown works only with plan, json-schema and typescript only with payloads describe, curl only with deliveries show',
      )
        .choices(['text', 'json', ...Object.keys(specialFormats)])
        .default('text'),
    )
    .addOption(
      new Option('--lock-timeout <seconds>', 'how long to wait for another command to finish')
        .default(10)
        .argParser(parseSeconds),
    )
    .hook('preAction', (_, action) => refuseSpecialFormat(action));
}

/** The formats that only one command has. */
const specialFormats: Readonly<Record<string, string>> = {
  markdown: 'plan',
  'json-schema': 'payloads describe',
  typescript: 'payloads describe',
  curl: 'deliveries show',
};

/** Refuses the formats of another command: commander offers a global option's choices to every command. */
function refuseSpecialFormat(action: Command): void {
  const { output } = action.optsWithGlobals();
  const command = specialFormats[output];
  const names = [action.name(), `${action.parent?.name()} ${action.name()}`];
  if (command === undefined || names.includes(command)) return;
  throw new UsageError(`-o ${output} works only with hookmill ${command}; use text or json`);
}

function parseSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`"${text}" is not a number of seconds`);
  return Number(text);
}
