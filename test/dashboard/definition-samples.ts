import type { Factory } from '../../operations/apply.ts';
import { reconcile } from '../../operations/reconcile.ts';
import { readAppliedState } from '../../store/embedded/applied-states.ts';
import { setSecret } from '../../store/embedded/team-secrets.ts';
import type { Readiness, TestDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { factoryAt, operatorEnvironment, repositoryAt } from '../support/git-samples.ts';

interface Given {
  readonly daemon: TestDaemon;
  readonly factory: string;
}

/** The factory as the command line has it, with a team secret S. */
export async function factoryOf({ daemon, factory }: Given): Promise<Factory> {
  const opened = factoryAt(daemon.workspace.home, factory);
  await setSecret(opened, 'S', 'a-secret-of-thirty-two-characters');
  return opened;
}

/** Lets the factory follow a repository: gives what reconciles it, and waits until the daemon serves the result. */
export async function followUpstream(given: Given, url: string): Promise<() => Promise<void>> {
  const factory = await factoryOf(given);
  const options = { environment: operatorEnvironment, signal: new AbortController().signal };
  return async () => {
    await reconcile(factory, { repository: repositoryAt(url) }, options);
    const { serial } = await readAppliedState(factory.home, factory.name);
    const isServed = ({ factories }: Readiness) =>
      factories.some(one => one.factory === factory.name && one.serial === serial);
    await eventually(async () => isServed(await given.daemon.readyz()));
  };
}
