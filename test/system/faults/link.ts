import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How a network fails: it delivers nothing and says nothing, or it ends each connection. */
export type Cut = 'blackhole' | 'reset';

/** A TCP proxy on this machine that plays the network between two programs. */
export interface Link {
  readonly port: number;
  /** Leads new connections to another server. */
  lead(port: number): void;
  cut(how: Cut): void;
  /** Ends a cut. After a blackhole, what was sent meanwhile arrives. */
  heal(): void;
  /** Ends a cut for new connections. Those that were open stay silent, as after a server moved to another machine. */
  forget(): void;
  close(): Promise<void>;
}

export async function openLink(serverPort: number): Promise<Link> {
  let leadsTo = serverPort;
  let cut: Cut | undefined;
  const sockets = new Set<Socket>();
  const forgotten = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    // The other side learns of it by 'close'.
    socket
      .on('error', () => undefined)
      .once('close', () => {
        sockets.delete(socket);
        forgotten.delete(socket);
      });
    if (cut === 'blackhole') socket.pause();
  };
  const server = createServer(socket => {
    if (cut === 'reset') return socket.resetAndDestroy();
    const onward = connect(leadsTo, '127.0.0.1');
    keep(socket);
    keep(onward);
    const isCut = () => cut === 'blackhole' || forgotten.has(socket);
    forward(socket, onward, isCut);
    forward(onward, socket, isCut);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const resetAll = () => {
    for (const socket of [...sockets, ...forgotten]) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    lead: port => {
      leadsTo = port;
    },
    cut: how => {
      cut = how;
      if (how === 'reset') resetAll();
      else for (const socket of sockets) socket.pause();
    },
    heal: () => {
      cut = undefined;
      for (const socket of sockets) socket.resume();
    },
    forget: () => {
      cut = undefined;
      for (const socket of sockets) forgotten.add(socket);
      sockets.clear();
    },
    close: async () => {
      server.close();
      resetAll();
      await once(server, 'close');
    },
  };
}

/** Not `pipe`, which would resume a socket that was paused. */
function forward(from: Socket, to: Socket, isCut: () => boolean): void {
  from.on('data', chunk => {
    if (to.write(chunk) || isCut()) return;
    from.pause();
    to.once('drain', () => {
      if (!isCut()) from.resume();
    });
  });
  if (isCut()) from.pause();
  from.once('end', () => to.end());
  from.once('close', () => to.destroy());
}
