import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connectionsMax, requestMs } from '../settings.ts';

/** @limit Time after which a connection without a request is closed, in ms: longer than the 60 s after which common proxies close theirs. */
const idleConnectionMs = 65_000;
/** @limit Largest request head, in bytes: Node's own default, stated so that it does not change silently. */
const headerBytesMax = 16 * 1024;

export interface ServerBounds {
  /** For a whole request, headers and body. */
  readonly requestMs: number;
  readonly connections: number;
}

const defaultBounds: ServerBounds = { requestMs, connections: connectionsMax };

/** A server that a slow or greedy client cannot hold on to. */
export function createBoundedServer(listener: RequestListener, bounds = defaultBounds): Server {
  const server = createServer(
    {
      headersTimeout: bounds.requestMs,
      requestTimeout: bounds.requestMs,
      keepAliveTimeout: idleConnectionMs,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: headerBytesMax,
    },
    listener,
  );
  server.maxConnections = bounds.connections;
  trackConnections(server);
  // Leave to send the body is given once the request has passed what can be checked without it.
  server.on('checkContinue', listener);
  return server;
}

/** Resolves with the address once the server listens; rejects if it cannot. */
export async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return server.address() as AddressInfo;
}

/** Stops accepting, lets requests under way finish, and after `graceMs` ends the connections that are left. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()));
  const closeIdle = () => {
    server.closeIdleConnections();
    // Balancers open connections ahead, and Node does not count one as idle before its first request.
    for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
  };
  closeIdle();
  const idle = setInterval(closeIdle, 50);
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(end);
}

const connections = new WeakMap<Server, Set<Socket>>();

function trackConnections(server: Server): void {
  const sockets = new Set<Socket>();
  connections.set(server, sockets);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}
