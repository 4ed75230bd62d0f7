import { type Command, Option } from 'commander';

export interface RepositoryOptions {
  readonly repository?: string;
  readonly branch?: string;
  readonly path?: string;
  readonly interval?: string;
  readonly credentialSecret?: string;
  readonly credentialUsername?: string;
}

/** Adds the options for the repository that a factory follows, each with its HOOKMILL_ variable. */
export function addRepositoryOptions(command: Command): Command {
  const option = (flags: string, variable: string, description: string) =>
    new Option(flags, description).env(`HOOKMILL_${variable}`);
  return command
    .addOption(option('--repository <url>', 'REPOSITORY', 'repository that the factory follows'))
    .addOption(option('--branch <name>', 'BRANCH', 'its production branch (default: main)'))
    .addOption(option('--path <folder>', 'PATH', 'folder of the definitions in it (default: its root)'))
    .addOption(
      option('--interval <time>', 'INTERVAL', 'time between two checks of the branch (default: 30s)'),
    )
    .addOption(
      option('--credential-secret <name>', 'CREDENTIAL_SECRET', 'team secret for fetching over HTTPS'),
    )
    .addOption(
      option(
        '--credential-username <name>',
        'CREDENTIAL_USERNAME',
        'user name for that secret (default: x-access-token)',
      ),
    );
}
