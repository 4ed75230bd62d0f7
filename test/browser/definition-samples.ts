import { reconcile } from '../../operations/branch/reconcile.ts';
import type { Factory } from '../../operations/factory.ts';
import type { Readiness } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { factoryAt, operatorEnvironment, repositoryAt } from '../support/git-samples.ts';
import type { WebhookDaemon } from '../support/webhook-daemon.ts';

interface Given {
  readonly daemon: WebhookDaemon;
  readonly factory: string;
}

/** Opens the factory as the command line does, and sets a team secret S. */
export async function factoryOf({ daemon, factory }: Given): Promise<Factory> {
  const opened = factoryAt(daemon.workspace.home, factory);
  await opened.store.teamSecrets.set('S', 'a-secret-of-thirty-two-characters');
  return opened;
}

/** Returns a function that reconciles the factory with a repository, and waits until the daemon serves the result. */
export async function followUpstream(given: Given, url: string): Promise<() => Promise<void>> {
  const factory = await factoryOf(given);
  const options = { environment: operatorEnvironment, signal: new AbortController().signal };
  return async () => {
    await reconcile(factory, { repository: repositoryAt(url) }, options);
    const { serial } = await factory.store.appliedStates.read(factory.name);
    const isServed = ({ factories }: Readiness) =>
      factories.some(one => one.factory === factory.name && one.serial === serial);
    await eventually(async () => isServed(await given.daemon.readyz()));
  };
}
