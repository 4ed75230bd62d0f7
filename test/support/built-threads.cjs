const { registerHooks } = require('node:module');
const { basename } = require('node:path');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

// Each process and thread of the tests loads this first. A thread of the daemon or of the store is then loaded from
// what `npm run build` wrote: one file takes a third of the time that two hundred sources take. CommonJS, because
// removing the types of a module would take each thread 30 ms.
if (!isMainThread) {
  registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const isThread = context.parentURL === undefined && specifier.endsWith('-worker.ts');
      const built = new URL(`../../dist/${basename(specifier, '.ts')}.js`, pathToFileURL(__filename));
      return nextResolve(isThread ? built.href : specifier, context);
    },
  });
}
