import type { Store } from '../../../store/ports/store.ts';
import type { RunSettings } from '../run-settings.ts';
import { createCommandRunner, type PrepareCommand } from './command.ts';
import { openCommandUser } from './command-user.ts';
import { createHttpRunner, type HttpDeps } from './http.ts';
import type { CreatedRunner, Runner } from './runner.ts';
import { createTellCancelled } from './tell-cancelled.ts';
import type { WorkspaceDeps } from './workspace.ts';

/** Leaves the run's directory, which is on disk already, for other programs to act on. */
const directoryRunner: Runner = async () => ({ kind: 'succeeded' });

export interface RunnerDeps extends Pick<HttpDeps, 'environment' | 'deliveryLog' | 'nowMs' | 'callbacks'> {
  readonly store: Pick<Store, 'runFiles' | 'teamSecrets'>;
}

/**
 * Creates the runner that the operator chose. Fails with SettingsError if the settings name a variable that is not in
 * the environment, or a user that commands cannot run as.
 */
export async function createRunner(
  { runner: settings, directory = '' }: Pick<RunSettings, 'runner' | 'directory'>,
  { store, callbacks, ...given }: RunnerDeps,
): Promise<CreatedRunner> {
  const { environment } = given;
  const deps = { ...given, runFiles: store.runFiles };
  switch (settings.kind) {
    case 'directory':
      return { execute: directoryRunner };
    case 'command': {
      const user =
        settings.user === undefined ? undefined : await openCommandUser(settings, directory, environment);
      const prepare =
        settings.workspace &&
        (await openWorkspaces({ settings: settings.workspace, user, environment, store }));
      return { execute: createCommandRunner(settings, { ...deps, user, prepare }) };
    }
    case 'http':
      return {
        execute: createHttpRunner(settings, { ...deps, store, callbacks }),
        tellCancelled: createTellCancelled(settings, { ...deps, store }),
      };
  }
}

/** Loads the code for working copies, which other daemons never need. */
async function openWorkspaces(deps: WorkspaceDeps): Promise<PrepareCommand> {
  const { prepareWorkspace } = await import('./workspace.ts');
  return (attempt, signal) => prepareWorkspace(attempt, deps, signal);
}
