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
