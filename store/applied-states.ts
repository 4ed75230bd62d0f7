import type { AppliedState } from '../schema/applied-state.ts';

/** The applied state of each factory. */
export interface AppliedStates {
  /** The factories that may have an applied state, sorted. */
  listFactories(): Promise<string[]>;
  /** The applied state of a factory; an empty one if nothing has been applied yet. */
  read(factory: string): Promise<AppliedState>;
  /**
   * Changes the applied state of a factory under its lock. `change` gets the current state and returns the next one,
   * or undefined to write nothing. The store increments the serial.
   * Fails with `locked`, or with `serial-moved` if a writer that ignored the lock came in between.
   */
  change(factory: string, change: (state: AppliedState) => Promise<AppliedState | undefined>): Promise<void>;
  /** Differs for each stored state, and is cheaper than reading the state; undefined if nothing is stored. */
  readVersion(factory: string): Promise<string | undefined>;
  /** Calls `onChange` whenever a state may have changed, and every few seconds. Resolves once changes are seen. */
  watch(onChange: () => void): Promise<Watch>;
}

export interface Watch {
  close(): Promise<void>;
}
