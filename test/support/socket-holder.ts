import { spawnSync } from 'node:child_process';
import { readSync, writeSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

// Stands for systemd: opens a listening socket for each name, and passes them to a command (sd_listen_fds(3)). Starts
// the command for each byte of standard input, waits for its end, and says so. This process itself accepts no connection,
// because its event loop is blocked from the moment when it listens.
//
// node socket-holder.ts <name>[:<name>] <command> [argument]…

const [names = '', ...command] = process.argv.slice(2);
const servers = await Promise.all(names.split(':').map(listen));
while (readSync(0, Buffer.alloc(1)) > 0) {
  const script = 'echo "pid $$"; LISTEN_PID=$$ exec "$@"';
  const env = { ...process.env, LISTEN_FDS: String(servers.length), LISTEN_FDNAMES: names };
  const stdio = ['ignore', 'inherit', 'inherit', ...servers.map(descriptorOf)] as const;
  const { status, signal } = spawnSync('sh', ['-c', script, 'sh', ...command], { env, stdio: [...stdio] });
  writeSync(1, `ended with ${signal ?? status}\n`);
}
process.exit();

function listen(): Promise<Server> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  });
}

function descriptorOf(server: Server): number {
  return (server as unknown as { _handle: { fd: number } })._handle.fd;
}
