import type { RunFiles } from '../../../store/run-files.ts';
import type { RunSettings } from '../run-settings.ts';
import { createCommandRunner } from './command.ts';
import { openCommandUser } from './command-user.ts';
import { directoryRunner } from './directory.ts';
import { createHttpRunner } from './http.ts';
import type { Runner } from './runner.ts';

/**
 * Creates the runner that the operator chose. Fails with SettingsError if the settings name a variable that is not in
 * the environment, or a user that commands cannot run as.
 */
export async function createRunner(
  { runner: settings, directory = '' }: Pick<RunSettings, 'runner' | 'directory'>,
  environment: NodeJS.ProcessEnv,
  runFiles: Pick<RunFiles, 'appendOutput'>,
  nowMs: () => number,
): Promise<Runner> {
  switch (settings.kind) {
    case 'directory':
      return directoryRunner;
    case 'command':
      return createCommandRunner(
        settings,
        settings.user === undefined ? undefined : await openCommandUser(settings, directory, environment),
        environment,
        runFiles,
        nowMs,
      );
    case 'http':
      return createHttpRunner(settings, environment, runFiles, nowMs);
  }
}
