// Runs git for hookmill when git talks to a remote. Git starts helpers (git-remote-https, ssh, index-pack) that survive
// if only git is killed. This process puts them into one process group without a terminal, so that they cannot prompt.
// It kills the group when hookmill asks for it, and when its standard input ends because hookmill is gone. Plain JavaScript,
// because a checkout runs it as it is, and to remove types takes as long as the rest of its start.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

// Before git starts: a signal that arrives while it starts would end only this process.
process.on('SIGINT', killGroup);
process.on('SIGTERM', killGroup);

// Git inherits the priority, so that a large fetch does not slow down the ingress.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const git = spawn('git', process.argv.slice(2), { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });

git.on('error', error => {
  process.stderr.write(`git cannot be run: ${error.message}\n`);
  process.exit(127);
});
git.on('exit', code => {
  killGroup();
  process.exit(code ?? 1);
});
process.stdin.on('end', killGroup).on('error', killGroup).resume();

function killGroup() {
  try {
    if (git.pid !== undefined) process.kill(-git.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
