/** Everything that the daemons of a store share, if it can have several. Operations reject with `StoreError`. */
export interface Replicas {
  /**
   * Counts an event over all daemons, in the window of a minute that began with the first one of its key. A daemon counts
   * a thousandth of `limit` at once, and gives those numbers to its next events: of a limit of 2,000 or more, that much may
   * stay unused in each daemon. A smaller limit is exact.
   */
  countEvent(key: string, limit: number): Promise<SharedWindow>;
  /**
   * Begins work that one daemon at a time does for all. Undefined if another one is doing it, or has ended it less than
   * `everyMs` ago.
   */
  takeTurn(name: string, everyMs: number): Promise<Turn | undefined>;
  describe(): Promise<ReplicasState>;
}

export interface SharedWindow {
  /** The events of the key in its window, this one included. */
  readonly count: number;
  readonly msLeft: number;
}

export interface Turn {
  /** Aborts if this daemon gave no sign of life for so long that another may have begun the same work. */
  readonly lost: AbortSignal;
  end(): Promise<void>;
}

export interface ReplicasState {
  /** The daemons that have shown a sign of life in time, oldest first. */
  readonly alive: readonly Replica[];
  /** The delay of the database's slowest standby, in ms; null if there is none, or this role may not know. */
  readonly standbyLagMs: number | null;
}

export interface Replica {
  readonly id: string;
  readonly startedAt: string;
  /** The runs that it executes. */
  readonly runs: number;
}
