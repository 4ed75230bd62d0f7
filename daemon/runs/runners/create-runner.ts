import { maySelect } from '../../../store/ports/daemon-records.ts';
import type { Run } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import type { Callbacks } from '../callbacks.ts';
import {
  keepsDirectories,
  listRunners,
  type ProgramSettings,
  type RunnerSettings,
  type RunSettings,
} from '../run-settings.ts';
import { createAfterwards } from './afterwards.ts';
import { createCommandRunner } from './command.ts';
import { openCommandUser } from './command-user.ts';
import { createHttpRunner, createOpenMasking, createTellCancelled, type HttpDeps } from './http.ts';
import type { CreatedRunner, OpenRunner, PrepareCommand, Runner } from './runner.ts';
import type { WorkspaceDeps } from './workspace.ts';

/** @limit Runs of runners that no daemon offers any more which fail at the same time. */
export const goneRunsConcurrent = 10;

/** The runners of a daemon. */
export interface OpenRunners {
  /** Those that it offers, by name. */
  readonly offered: ReadonlyMap<string, OpenRunner>;
  /** Finds the runner of a run. One that this run has no more lets it fail with the reason. */
  find(run: Pick<Run, 'runner' | 'factory' | 'automation'>): OpenRunner;
}

export interface RunnerDeps extends Pick<HttpDeps, 'environment' | 'deliveryLog' | 'nowMs'> {
  readonly store: Pick<Store, 'runFiles' | 'teamSecrets' | 'deliveries'>;
  /** Makes the callbacks of a runner. */
  readonly openCallbacks?:
    | ((url: string | undefined) => Pick<Callbacks, 'createUrl' | 'listTokens'>)
    | undefined;
}

/**
 * Opens the runners that the operator offers. Fails with SettingsError if the settings name a variable that is not in the
 * environment, or a user that commands cannot run as.
 */
export async function openRunners(settings: RunSettings, deps: RunnerDeps): Promise<OpenRunners> {
  const listed = listRunners(settings);
  const offered = new Map<string, OpenRunner>();
  for (const one of listed) {
    const { name, concurrency, attempts, backOff } = one;
    const created = await createRunner(one, settings.directory ?? '', deps);
    offered.set(name, { ...created, concurrency, attempts, backOff, keep: keepsDirectories(one) });
  }
  const { attempts, backOff } = settings;
  const fail = (reason: string): OpenRunner => ({
    execute: async () => ({ kind: 'failed', reason }),
    ...{ keep: true, concurrency: goneRunsConcurrent, attempts, backOff },
  });
  return {
    offered,
    find: run => {
      const runner = offered.get(run.runner);
      if (!runner)
        return fail(
          `the daemon offers no runner ${run.runner} any more; add it to runs.runners, then retry the run`,
        );
      const isAllowed = listed.some(one => one.name === run.runner && maySelect(one, run));
      return isAllowed ? runner : fail(`the automation may not use the runner ${run.runner} any more`);
    },
  };
}

/** Leaves the run's directory, which is on disk already, for other programs to act on. */
const directoryRunner: Runner = async () => ({ kind: 'succeeded' });

async function createRunner(
  { runner: settings, path }: RunnerSettings,
  directory: string,
  { store, openCallbacks, ...given }: RunnerDeps,
): Promise<CreatedRunner> {
  const { environment } = given;
  const deps = { ...given, runFiles: store.runFiles, setting: ['runs', ...path].join('.') };
  switch (settings.kind) {
    case 'directory':
      return { execute: directoryRunner };
    case 'command': {
      const openUser = async (program: ProgramSettings, setting: string) =>
        program.user === undefined
          ? undefined
          : await openCommandUser(program, setting, directory, environment);
      const user = await openUser(settings, deps.setting);
      const prepare =
        settings.workspace &&
        (await openWorkspaces({ settings: settings.workspace, user, environment, store }));
      const { afterwards } = settings;
      const second = afterwards && {
        actAfterwards: createAfterwards(afterwards, {
          ...{ ...deps, store },
          user: await openUser(afterwards, `${deps.setting}.afterwards`),
        }),
      };
      const execute = createCommandRunner(settings, { ...deps, store, user, prepare });
      return { execute, ...second, mayEndDaemon: !user?.isApart };
    }
    case 'http': {
      const callbacks = settings.callback && openCallbacks?.(settings.callback.url);
      return {
        execute: createHttpRunner(settings, { ...deps, store, callbacks }),
        tellCancelled: createTellCancelled(settings, { ...deps, store }),
        openMasking: createOpenMasking(settings, { ...deps, store, callbacks }),
      };
    }
  }
}

/** Loads the code for working copies, which other daemons never need. */
async function openWorkspaces(deps: WorkspaceDeps): Promise<PrepareCommand> {
  const { prepareWorkspace } = await import('./workspace.ts');
  return (attempt, signal) => prepareWorkspace(attempt, deps, signal);
}
