// Stands between hookmill and a git that talks to a remote: git starts helpers (git-remote-https, ssh, index-pack)
// that outlive it when it alone is killed. Here they are one process group without a terminal, so that none can
// prompt, and the whole group goes when hookmill asks for it, or is gone itself: then this standard input ends.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

// Inherited by git: a large fetch is to leave the processors to the ingress.
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
process.on('SIGINT', killGroup);
process.on('SIGTERM', killGroup);
process.stdin.on('end', killGroup).on('error', killGroup).resume();

function killGroup(): void {
  try {
    if (git.pid !== undefined) process.kill(-git.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
