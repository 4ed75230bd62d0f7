#!/usr/bin/env node
// Plain JavaScript that any Node version can run, so that one that is too old prints a clear message.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  process.stderr.write(
    `hookmill needs Node.js 22.22 or newer, and this is ${process.versions.node}.\n` +
      'Inside a checkout, npx --no-install hookmill … uses the one that npm install brings.\n',
  );
  process.exitCode = 3;
} else {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  const { main } = await import('../dist/hookmill.js');
  await main();
}
