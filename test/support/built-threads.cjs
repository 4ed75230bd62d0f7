const { registerHooks } = require('node:module');
const { basename, join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

const dist = join(__dirname, '../../dist');

// Each process and thread of the tests loads this first. A thread of the daemon or of the store is then loaded from
// what `npm run build` wrote: one file takes a third of the time that two hundred sources take. CommonJS, because
// removing the types of a module would take each thread 30 ms.
registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const isThread = !isMainThread && context.parentURL === undefined && specifier.endsWith('-worker.ts');
    const built = () => pathToFileURL(join(dist, `${basename(specifier, '.ts')}.js`)).href;
    return nextResolve(isThread ? built() : specifier, context);
  },
});
