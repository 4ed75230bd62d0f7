import type { Socket } from 'node:net';
import { toClientAddress } from './client-address.ts';

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
