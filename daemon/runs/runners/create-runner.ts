import type { RunnerSettings } from '../../settings.ts';
import type { Runner } from '../runner.ts';
import { commandRunner } from './command.ts';
import { directoryRunner } from './directory.ts';
import { httpRunner } from './http.ts';

/** The runner that the operator chose. Throws if the environment lacks what the settings name. */
export function createRunner(
  settings: RunnerSettings,
  environment: NodeJS.ProcessEnv,
  nowMs: () => number,
): Runner {
  switch (settings.kind) {
    case 'directory':
      return directoryRunner;
    case 'command':
      return commandRunner(settings, environment, nowMs);
    case 'http':
      return httpRunner(settings, environment, nowMs);
  }
}
