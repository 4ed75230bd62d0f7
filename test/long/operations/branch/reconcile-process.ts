// A process that the test kills: reconciles the factory in a home once.
// node reconcile-process.ts HOME URL
import { reconcile } from '../../../../operations/branch/reconcile.ts';
import { factoryAt, operatorEnvironment, repositoryAt } from '../../../support/git-samples.ts';

const [home = '', url = ''] = process.argv.slice(2);
const followed = { repository: repositoryAt(url) };
const signal = new AbortController().signal;
await reconcile(factoryAt(home), followed, { environment: operatorEnvironment, signal, allowRename: true });
