import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

export const gitExecPath = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();

export interface GitDaemon {
  /** The URL of the directory. */
  readonly url: string;
  stop(): void;
}

/** Serves the repositories below a directory with git's own daemon, a process for each connection. */
export async function startGitDaemon(directory: string, env: NodeJS.ProcessEnv): Promise<GitDaemon> {
  const args = ['--inetd', '--export-all', `--base-path=${directory}`, directory];
  const server = createServer({ pauseOnConnect: true }, socket => {
    spawn(join(gitExecPath, 'git-daemon'), args, { stdio: [socket, socket, 'ignore'], env });
    // The process has the connection now.
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `git://127.0.0.1:${port}`, stop: () => void server.close() };
}
