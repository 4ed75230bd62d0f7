import type { Store } from '../../../store/ports.ts';
import type { Callbacks } from '../callbacks.ts';
import type { RunSettings, WorkspaceSettings } from '../run-settings.ts';
import { createCommandRunner, type PrepareCommand } from './command.ts';
import { type CommandUser, openCommandUser } from './command-user.ts';
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
  store: Pick<Store, 'runFiles' | 'teamSecrets'>,
  nowMs: () => number,
  callbacks?: Pick<Callbacks, 'createUrl'>,
): Promise<Runner> {
  switch (settings.kind) {
    case 'directory':
      return directoryRunner;
    case 'command': {
      const user =
        settings.user === undefined ? undefined : await openCommandUser(settings, directory, environment);
      const prepare =
        settings.workspace && (await openWorkspaces(settings.workspace, user, environment, store));
      return createCommandRunner(settings, { user, prepare, environment, runFiles: store.runFiles, nowMs });
    }
    case 'http':
      return createHttpRunner(settings, environment, store.runFiles, nowMs, callbacks);
  }
}

/** Loads the code for working copies, which other daemons never need. */
async function openWorkspaces(
  settings: WorkspaceSettings,
  user: CommandUser | undefined,
  environment: NodeJS.ProcessEnv,
  store: Pick<Store, 'teamSecrets'>,
): Promise<PrepareCommand> {
  const { prepareWorkspace } = await import('./workspace.ts');
  return (attempt, signal) => prepareWorkspace(attempt, { settings, user, environment, store }, signal);
}
