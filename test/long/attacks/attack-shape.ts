/** The task of an attacking process, which gets it as JSON. */
export interface AttackSpec {
  readonly url: string;
  /** Addresses of this machine that the connections come from, in turn. */
  readonly from: readonly string[];
  readonly connections: number;
  /** Request line and headers; `{n}` is a number that is new for each request, `{network}` an IPv6 address of one /64. */
  readonly head: readonly string[];
  /** A file with the body. */
  readonly bodyFile?: string;
  /** Sends the body in chunks of this size, and not its end. */
  readonly chunkBytes?: number;
  /** Whether the next request follows after the answer, on a new connection at once, or not at all. */
  readonly afterwards: 'next' | 'abort' | 'idle';
  /** Time between the head and the body. */
  readonly bodyAfterMs?: number;
  readonly seconds: number;
  readonly requestsMax?: number;
}

/** The answers that an attacking process got. */
export interface AttackReport {
  readonly requests: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Connections that were refused or closed without an answer. */
  readonly dropped: number;
}
