import type { RunFiles } from '../../../store/run-files.ts';
import type { RunnerSettings } from '../run-settings.ts';
import { createCommandRunner } from './command.ts';
import { directoryRunner } from './directory.ts';
import { createHttpRunner } from './http.ts';
import type { Runner } from './runner.ts';

/**
 * Creates the runner that the operator chose. Fails with SettingsError if the settings name a variable that is not in
 * the environment.
 */
export function createRunner(
  settings: RunnerSettings,
  environment: NodeJS.ProcessEnv,
  runFiles: Pick<RunFiles, 'appendOutput'>,
  nowMs: () => number,
): Runner {
  switch (settings.kind) {
    case 'directory':
      return directoryRunner;
    case 'command':
      return createCommandRunner(settings, environment, runFiles, nowMs);
    case 'http':
      return createHttpRunner(settings, environment, runFiles, nowMs);
  }
}
