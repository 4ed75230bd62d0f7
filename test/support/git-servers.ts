import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { gitExecPath, startGitDaemon } from './git-daemon.ts';
import { operatorEnvironment } from './git-samples.ts';
import { startLoopbackServer } from './loopback-server.ts';

/** Serves the repositories of a directory with git's own daemon; returns the URL of the directory. */
export async function serveGitDaemon(directory: string): Promise<string> {
  const { url, stop } = await startGitDaemon(directory, operatorEnvironment);
  onTestFinished(stop);
  return url;
}

/** Serves the repositories of a directory with git's own http-backend to whoever sends the credential. */
export function serveGitOverHttp(
  directory: string,
  username: string,
  password: string,
  onEnd?: (end: () => void) => void,
): Promise<string> {
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return startLoopbackServer((request, response) => {
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    runBackend(directory, request, response);
  }, onEnd);
}

export async function serveHttp(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}`;
}

export interface SilentServer {
  readonly port: number;
  /** Resolves with the first connection. */
  readonly connected: Promise<Socket>;
}

/** Accepts connections and never answers. */
export async function serveSilence(): Promise<SilentServer> {
  const server = createTcpServer();
  const connected = new Promise<Socket>(resolve => {
    server.once('connection', socket => resolve(socket.resume().on('error', ignore)));
  });
  return { port: await listen(server), connected };
}

function ignore(): undefined {
  return undefined;
}

// RFC 3875: the Common Gateway Interface, as far as git needs it.
function runBackend(directory: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://localhost');
  const backend = spawn(join(gitExecPath, 'git-http-backend'), {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...operatorEnvironment,
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
  });
  request.pipe(backend.stdin.on('error', ignore));
  const chunks: Buffer[] = [];
  backend.stdout.on('data', chunk => chunks.push(chunk));
  backend.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    for (const line of output.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(output.subarray(end + 4));
  });
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
