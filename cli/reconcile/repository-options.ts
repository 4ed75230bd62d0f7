import type { Command } from 'commander';
import { createEnvOption } from '../input/options.ts';

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
  return command
    .addOption(createEnvOption('--repository <url>', 'repository that the factory follows'))
    .addOption(createEnvOption('--branch <name>', 'its production branch (default: main)'))
    .addOption(createEnvOption('--path <folder>', 'folder of the definitions in it (default: its root)'))
    .addOption(createEnvOption('--interval <time>', 'time between two checks of the branch (default: 30s)'))
    .addOption(createEnvOption('--credential-secret <name>', 'team secret for fetching over HTTPS'))
    .addOption(
      createEnvOption('--credential-username <name>', 'user name for that secret (default: x-access-token)'),
    );
}
