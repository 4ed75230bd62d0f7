import type { RunFiles } from '../../../store/run-files.ts';
import type { RunnerSettings } from '../../settings.ts';
import { commandRunner } from './command.ts';
import { directoryRunner } from './directory.ts';
import { httpRunner } from './http.ts';
import type { Runner } from './runner.ts';

/** The runner that the operator chose. Throws if the environment lacks what the settings name. */
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
      return commandRunner(settings, environment, runFiles, nowMs);
    case 'http':
      return httpRunner(settings, environment, runFiles, nowMs);
  }
}
