#!/usr/bin/env node
// Plain JavaScript that any Node version can run, so that one that is too old prints a clear message.
// The same as `engines` in package.json.
const needed = '24.15.0';
if (toNumber(process.versions.node) < toNumber(needed)) {
  process.stderr.write(
    `hookmill needs Node.js ${needed} or newer, and this is ${process.versions.node}.\n` +
      'Inside a checkout, ./hookmill uses the one that npm run setup brings; npm start does all that is needed.\n',
  );
  process.exitCode = 3;
} else {
  keepCompiledCode();
  const program = await import('../dist/hookmill.js').catch(explainUnbuilt);
  await program?.main();
}

function toNumber(version) {
  return version.split('.').reduce((sum, part) => sum * 1000 + Number.parseInt(part, 10), 0);
}

function explainUnbuilt(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write(
    `hookmill is not built: ${error.message}.\nInside a checkout, run npm run setup && npm run build; npm start does both.\n`,
  );
  process.exitCode = 3;
}

/**
 * Keeps compiled code in the home directory of this user, if it is there and can be written. Not in the directory for
 * temporary files, Node's default: whoever creates that first could make this process run other code.
 */
function keepCompiledCode() {
  const { enableCompileCache } = process.getBuiltinModule('node:module');
  const { homedir } = process.getBuiltinModule('node:os');
  const { statSync } = process.getBuiltinModule('node:fs');
  try {
    const home = homedir();
    // After sudo, HOME may belong to another user.
    const isOwn = !process.getuid || statSync(home).uid === process.getuid();
    if (isOwn) enableCompileCache(`${home}/.cache/hookmill/compiled`);
  } catch {
    // Without a home directory, each start compiles again.
  }
}
