import http, {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as endOfTurn } from 'node:timers/promises';
import { SettingsError } from '../setting-shapes.ts';
import { connectionsMax, requestMs } from '../settings.ts';
import { BoundedResponse } from './bounded-response.ts';
import { ConnectionSlots, ConnectionTurns } from './connections.ts';

/** @limit Time after which a connection without a request is closed, in ms: longer than the 60 s after which common proxies close theirs. */
const idleConnectionMs = 65_000;
/** @limit Largest request head, in bytes: Node's own default, stated so that it does not change silently. */
const headerBytesMax = 16 * 1024;

interface ServerBounds {
  /** Time limit for a whole request, headers and body. */
  readonly requestMs?: number;
  readonly connections?: number;
  /** Says whether an address belongs to a proxy, which connects for many clients. */
  readonly isProxy: (address: string) => boolean;
  /** The URL of the server for its clients, if it has one. */
  readonly publicUrl?: string | undefined;
}

/** @limit Time for which browsers come only with https once they have done so, in seconds: a year, as OWASP ASVS asks for. */
const strictTransportSeconds = 31_536_000;
/** @limit Connections that the system keeps for a server until it accepts them: of more, each would try again after a second, also connections of honest senders. Linux allows 4,096 by default. */
const backlogMax = 4_096;
/** @limit Time between two checks for requests that exceed their time, in ms: a tenth of that time. */
const connectionsCheckMs = 1_000;
/** @limit Time between two checks for idle connections while a server closes, in ms: nobody notices the delay. */
const closeIdleMs = 50;

/** @limit Time that a server which closes leaves connections without a request, in ms: one may be on its way, and would be lost with its connection. */
const requestOnItsWayMs = 500;

/** Creates a server that a slow or greedy client cannot block. */
export function createBoundedServer(
  listener: RequestListener,
  { requestMs: timeoutMs = requestMs, connections = connectionsMax, isProxy, publicUrl }: ServerBounds,
): Server {
  const turns = new ConnectionTurns(isProxy);
  const slots = new ConnectionSlots(connections, isProxy, address => turns.hasWaiting(address));
  const isOverTls = createTlsCheck(publicUrl, isProxy);
  const serve: RequestListener = (request, response) => {
    const { socket } = request;
    slots.beginRequest(socket);
    response.once('close', () => slots.endRequest(socket));
    if (closing.has(server)) response.shouldKeepAlive = false;
    if (isOverTls(request)) response.setHeader('Strict-Transport-Security', strictTransport);
    if (isHeadValid(request)) listener(request, response);
    else refuseHead(response);
  };
  const server = http.createServer(
    {
      headersTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      keepAliveTimeout: idleConnectionMs,
      connectionsCheckingInterval: connectionsCheckMs,
      maxHeaderSize: headerBytesMax,
      // Otherwise Node drops a second Authorization in silence, and what is verified could differ from what a proxy saw.
      joinDuplicateHeaders: true,
      ServerResponse: BoundedResponse,
    },
    serve,
  );
  partsOfServers.set(server, { slots, turns });
  // An option of net.createServer that http.createServer does not pass on: a connection that waits holds no bytes.
  Object.assign(server, { pauseOnConnect: true });
  // Before the server makes a parser for a connection, it is decided whether there is room for it.
  const [serveConnection] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    if (!slots.open(socket)) return;
    serveConnection?.call(server, socket);
    sliceInput(socket);
    turns.open(socket);
  });
  // For `Expect: 100-continue`: the listener permits the body only after all checks that need no body have passed.
  server.on('checkContinue', serve);
  return server;
}

const strictTransport = `max-age=${strictTransportSeconds}`;

/** Creates a check whether a client speaks TLS with a proxy: it names the host of an https URL, or a trusted proxy says so. */
function createTlsCheck(publicUrl: string | undefined, isProxy: ServerBounds['isProxy']) {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  return ({ headers, socket }: IncomingMessage): boolean => {
    if (url?.protocol === 'https:' && headers.host === url.host) return true;
    return headers['x-forwarded-proto'] === 'https' && isProxy(socket.remoteAddress ?? '');
  };
}

/** Descriptors of listening sockets that the service manager opened. They replace the settings of where to listen. */
export interface PassedSockets {
  readonly ingress?: number;
  readonly management?: number;
}

/** Where a server listens: on an address, or on a socket that the service manager opened and passed on. */
export type ListenPlace =
  | { readonly port: number; readonly host: string }
  | { readonly fd: number; readonly name: string };

/** Resolves with the address once the server listens; rejects if it cannot. */
export async function listen(server: Server, place: ListenPlace): Promise<AddressInfo> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, backlogMax, () => {
      server.off('error', reject);
      resolve();
    });
  });
  if ('fd' in place) onPassedSockets.add(server);
  await listening.catch(error => {
    throw 'fd' in place ? notListening(place, error) : error;
  });
  const address = server.address();
  if (address !== null && typeof address === 'object') return address;
  server.close();
  throw notListening(place as { fd: number; name: string });
}

/** systemd passes other sockets if its socket unit says so: ListenDatagram, a path, or Accept=yes. */
function notListening({ fd, name }: { fd: number; name: string }, cause?: unknown): SettingsError {
  const message = `descriptor ${fd} (${name}) is not a listening TCP socket; set ListenStream in the socket unit to an address and a port, and remove Accept`;
  return new SettingsError(message, { cause });
}

/**
 * Accepts the connections that the system has queued, then no more, lets current requests finish, and after `graceMs`
 * cuts the connections that are left. The system keeps a passed socket open: whoever is queued there, or connects from
 * now on, waits for the next daemon.
 */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  closing.add(server);
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  if (!onPassedSockets.has(server)) await acceptQueued(server, graceMs);
  // Not the method of HTTP servers, which closes idle connections at once.
  const closed = new Promise<void>(resolve => NetServer.prototype.close.call(server, () => resolve()));
  const closeIdle = () => {
    server.closeIdleConnections();
    // Load balancers open connections in advance, and Node does not count those as idle before their first request.
    for (const socket of partsOfServers.get(server)?.slots.sockets ?? [])
      if (socket.bytesRead === 0) socket.destroy();
  };
  await Promise.race([closed, delay(Math.min(requestOnItsWayMs, graceMs), undefined, { ref: false })]);
  closeIdle();
  const idle = setInterval(closeIdle, closeIdleMs);
  await closed;
  clearInterval(idle);
  clearTimeout(end);
}

/**
 * Accepts what the system has queued, because it resets those connections when the server stops listening, with the
 * requests that they have sent. Node accepts at most one of them in each turn of the event loop, so the queue is empty
 * after a turn without a new one. Whatever arrives meanwhile, no more are accepted than the queue can hold.
 */
async function acceptQueued(server: Server, timeMs: number): Promise<void> {
  partsOfServers.get(server)?.turns.end();
  const endMs = performance.now() + timeMs;
  let accepted = 0;
  const count = () => {
    accepted++;
  };
  server.on('connection', count);
  // The first turn may be one whose connections were accepted before.
  await endOfTurn();
  for (let before = -1; accepted > before && accepted < backlogMax && performance.now() < endMs; ) {
    before = accepted;
    await endOfTurn();
  }
  server.off('connection', count);
}

interface ServerParts {
  readonly slots: ConnectionSlots;
  readonly turns: ConnectionTurns;
}

const partsOfServers = new WeakMap<Server, ServerParts>();
const closing = new WeakSet<Server>();
/** The servers whose sockets the service manager keeps open. */
const onPassedSockets = new WeakSet<Server>();

/**
 * Says whether a request has one Host, and a target and Host that are parts of a URL (RFC 9112 section 3.2). Nothing that
 * parses the URL of such a request later can fail. The values of a repeated Host are joined with commas.
 */
function isHeadValid({ headers, url = '' }: IncomingMessage): boolean {
  const { host = '' } = headers;
  if (/[\s/?#@\\,]/.test(host)) return false;
  const authority = `http://${host || 'localhost'}`;
  if (url.startsWith('/')) return URL.canParse(authority + url);
  return URL.canParse(authority) && (url === '*' || URL.canParse(url));
}

/** Answers a request whose head is not valid, and closes its connection. */
function refuseHead(response: ServerResponse): void {
  const detail = 'The target or Host of the request is malformed, or Host is repeated.';
  const problem = { type: 'about:blank', title: 'Bad Request', status: 400, detail };
  response.writeHead(400, { 'Content-Type': 'application/problem+json', Connection: 'close' });
  response.end(`${JSON.stringify(problem)}\n`);
}

/** @limit Bytes that the HTTP parser takes at once, of what a socket has read: it calls back for each chunk of a body, so a full read of tiny ones would stop all others for 30 ms. */
const sliceBytes = 1024;
/** @limit Bytes that the parser takes at once after it was quick, in bytes: ordinary bodies come in large chunks. */
const sliceBytesMax = 8 * 1024;
/** @limit Time in which a parser is quick with a slice, in ms: one of tiny chunks takes several times as long. */
const quickMs = 0.02;

/**
 * Gives the HTTP parser of a new connection what arrives in slices. Between two of them, the listener of a request runs,
 * so that the rest of a refused body is never parsed.
 */
function sliceInput(socket: Socket): void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  if (!parse) throw new Error('the HTTP server listens to no data of this connection');
  let rest: Buffer = nothing;
  let size = sliceBytes;
  const parseSlice = (bytes: Buffer) => {
    const slice = bytes.subarray(0, size);
    if (bytes.length > size) {
      rest = bytes.subarray(size);
      afterMicrotasks(takeRest);
    }
    const startedMs = performance.now();
    parse(slice);
    size = performance.now() - startedMs < quickMs ? Math.min(2 * size, sliceBytesMax) : sliceBytes;
  };
  const takeRest = () => {
    const bytes = rest;
    rest = nothing;
    // The parser must get nothing more from a socket that was closed, or that someone else reads now.
    if (socket.destroyed || socket.listeners('data')[0] !== take) return;
    // The server waits until the sender has read its answers.
    if (socket.isPaused()) socket.unshift(bytes);
    else parseSlice(bytes);
  };
  const take = (bytes: Buffer) => {
    // A stream that is resumed may give several buffers at once.
    if (rest.length > 0) rest = Buffer.concat([rest, bytes]);
    else parseSlice(bytes);
  };
  socket.removeListener('data', parse).on('data', take);
}

const nothing = Buffer.alloc(0);

/** Runs `next` before anything else is read from any socket, but after all that is due already. */
function afterMicrotasks(next: () => void): void {
  queueMicrotask(() => process.nextTick(next));
}
