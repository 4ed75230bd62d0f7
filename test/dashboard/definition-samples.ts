import type { Factory } from '../../operations/factory.ts';
import { reconcile } from '../../operations/reconcile.ts';
import { homeAt } from '../../store/embedded/files/home.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { operatorEnvironment, repositoryAt } from '../support/git-samples.ts';
import { factoryIn } from '../support/stored.ts';

interface Given {
  readonly daemon: TestDaemon;
  readonly factory: string;
}

/** Opens the factory as the command line does, and sets a team secret S. */
export async function factoryOf({ daemon, factory }: Given): Promise<Factory> {
  const opened = factoryIn(homeAt(daemon.workspace.home), factory);
  await opened.store.teamSecrets.set('S', 'a-secret-of-thirty-two-characters');
  return opened;
}

/** Returns a function that reconciles the factory with a repository. */
export async function followUpstream(given: Given, url: string): Promise<() => Promise<unknown>> {
  const factory = await factoryOf(given);
  const options = { environment: operatorEnvironment, signal: new AbortController().signal };
  return () => reconcile(factory, { repository: repositoryAt(url) }, options);
}
