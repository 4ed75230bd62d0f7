import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { toClientAddress } from './client-address.ts';

/** @limit Descriptors that connections leave to files, threads, runs and the database. */
const descriptorsKept = 256;

/** @limit Part of the other descriptors that connections to the management port may have, as a divisor: senders have the rest. */
const managementPart = 4;

/** The connections that each port may have open. */
export interface ConnectionShares {
  readonly ingress: number;
  readonly management: number;
}

/** @limit One client address may have this part of a server's connections, as a divisor: the others keep the rest. */
const addressConnectionsPart = 8;

interface Client {
  open: number;
  readonly idle: Set<Slot>;
}

interface Slot {
  readonly socket: Socket;
  readonly client: Client;
  requests: number;
}

/**
 * Decides which connections a server keeps. When all connections are taken, or one client address has all that it may
 * have, the connection that has been idle longest is closed for a new one. So nobody keeps others out with connections on which nothing happens.
 * But a client whose connections wait already gets no more: a flood of them must cost little.
 */
export class ConnectionSlots {
  readonly #connectionsMax: number;
  readonly #isProxy: (address: string) => boolean;
  readonly #hasWaiting: (address: string) => boolean;
  readonly #slots = new Map<Socket, Slot>();
  readonly #clients = new Map<string, Client>();
  /** In all sets of idle connections, the one that has been idle longest comes first. */
  readonly #idle = new Set<Slot>();

  /** The addresses of proxies have no limit of their own, because a proxy connects for many clients. */
  constructor(
    connectionsMax: number,
    isProxy: (address: string) => boolean,
    hasWaiting: (address: string) => boolean,
  ) {
    this.#connectionsMax = connectionsMax;
    this.#isProxy = isProxy;
    this.#hasWaiting = hasWaiting;
  }

  /** All open connections. */
  get sockets(): Iterable<Socket> {
    return this.#slots.keys();
  }

  /** Admits a new connection. Destroys it and returns false if no other one gives way. */
  open(socket: Socket): boolean {
    const { remoteAddress = '' } = socket;
    const address = toClientAddress(remoteAddress);
    const client = this.#clients.get(address) ?? { open: 0, idle: new Set() };
    const isShareTaken =
      client.open >= this.#connectionsMax / addressConnectionsPart && !this.#isProxy(remoteAddress);
    if (isShareTaken || this.#slots.size >= this.#connectionsMax) {
      const [longestIdle] = isShareTaken ? client.idle : this.#idle;
      if (!longestIdle || this.#hasWaiting(address)) {
        socket.destroy();
        return false;
      }
      this.#close(longestIdle);
      longestIdle.socket.destroy();
    }
    const slot = { socket, client, requests: 0 };
    this.#slots.set(socket, slot);
    this.#clients.set(address, client);
    client.open++;
    this.#addIdle(slot);
    socket.once('close', () => {
      this.#close(slot);
      if (client.open === 0 && this.#clients.get(address) === client) this.#clients.delete(address);
    });
    return true;
  }

  beginRequest(socket: Socket): void {
    const slot = this.#slots.get(socket);
    if (slot && slot.requests++ === 0) this.#removeIdle(slot);
  }

  endRequest(socket: Socket): void {
    const slot = this.#slots.get(socket);
    if (slot && --slot.requests === 0) this.#addIdle(slot);
  }

  #close(slot: Slot): void {
    if (!this.#slots.delete(slot.socket)) return;
    this.#removeIdle(slot);
    slot.client.open--;
  }

  #addIdle(slot: Slot): void {
    this.#idle.add(slot);
    slot.client.idle.add(slot);
  }

  #removeIdle(slot: Slot): void {
    this.#idle.delete(slot);
    slot.client.idle.delete(slot);
  }
}

/** Divides the descriptors that a process may have open among the ports; undefined: as many as are wanted. */
export function shareConnections(
  wanted: ConnectionShares,
  descriptors: number | undefined,
): ConnectionShares {
  if (descriptors === undefined) return wanted;
  // A process with very few descriptors keeps half of them.
  const free = Math.max(descriptors - descriptorsKept, Math.floor(descriptors / 2));
  const management = Math.min(wanted.management, Math.floor(free / managementPart));
  return { ingress: Math.min(wanted.ingress, free - management), management };
}

/** The most descriptors that a process may have open; undefined if there is no limit, or the system does not say (only Linux does). */
export function readDescriptorLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** @limit New connections of one client address that a server begins to read at once, if there were none before: an honest sender may open as many together. */
const connectionsAtOnce = 64;
/** @limit New connections of one client address that a server begins to read in each turn after that; the next ones wait for the next turns, so that connections of others do not have to. */
const connectionsATurn = 8;
/** @limit Time between the end of one turn and the next, in ms: about as long as the connections of one take at most. */
const turnMs = 10;

/** Lets no client address keep a server busy with its new connections: they take turns. */
export class ConnectionTurns {
  readonly #isProxy: (address: string) => boolean;
  /** The addresses that opened more connections than their turns allow: how many were begun beyond that, and which still wait. */
  readonly #addresses = new Map<string, { begun: number; readonly waiting: Set<Socket> }>();
  #areOver = false;

  /** The addresses of proxies have no turns, because a proxy connects for many clients. */
  constructor(isProxy: (address: string) => boolean) {
    this.#isProxy = isProxy;
  }

  /** Resumes a new connection, which must be paused: at once, or later if its address has opened many in this turn. */
  open(socket: Socket): void {
    const { remoteAddress = '' } = socket;
    if (this.#areOver || this.#isProxy(remoteAddress)) {
      socket.resume();
      return;
    }
    const address = toClientAddress(remoteAddress);
    if (this.#addresses.size === 0) this.#schedule();
    const turn = this.#addresses.get(address) ?? { begun: 0, waiting: new Set() };
    this.#addresses.set(address, turn);
    if (turn.begun < connectionsAtOnce) {
      turn.begun++;
      socket.resume();
      return;
    }
    turn.waiting.add(socket);
    socket.once('close', () => turn.waiting.delete(socket));
  }

  /** Resumes all connections that wait, and from now on each new one at once: for a server that soon closes them. */
  end(): void {
    this.#areOver = true;
    for (const { waiting } of this.#addresses.values()) {
      for (const socket of waiting) socket.resume();
      waiting.clear();
    }
  }

  /** Whether connections of a client address wait for their turn. */
  hasWaiting(address: string): boolean {
    return (this.#addresses.get(address)?.waiting.size ?? 0) > 0;
  }

  #beginTurn(): void {
    for (const [address, turn] of this.#addresses) {
      turn.begun = Math.max(0, turn.begun - connectionsATurn);
      if (turn.begun === 0 && turn.waiting.size === 0) this.#addresses.delete(address);
      for (const socket of turn.waiting) {
        if (turn.begun === connectionsAtOnce) break;
        turn.begun++;
        turn.waiting.delete(socket);
        socket.resume();
      }
    }
    if (this.#addresses.size > 0) this.#schedule();
  }

  #schedule(): void {
    // First, what this turn lets the server read is read: the time between turns is free of it.
    setImmediate(() => setTimeout(() => this.#beginTurn(), turnMs));
  }
}
