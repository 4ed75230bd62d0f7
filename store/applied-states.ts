import type { AppliedState } from '../schema/applied-state.ts';

/** The applied state of each factory. */
export interface AppliedStates {
  /** The factories that something may have been applied to, sorted. */
  factories(): Promise<string[]>;
  /** The applied state of a factory; the empty one where nothing has been applied. */
  read(factory: string): Promise<AppliedState>;
  /**
   * Changes the applied state of a factory under its lock: `change` gets the current state and returns the next one,
   * or undefined to leave it as it is, in which case nothing is written. The serial is counted up here.
   * Fails with `locked`, or with `serial-moved` when a writer that ignored the lock came in between.
   */
  change(factory: string, change: (state: AppliedState) => Promise<AppliedState | undefined>): Promise<void>;
  /** Identifies what is stored of a factory without reading it; undefined where nothing is. */
  version(factory: string): Promise<string | undefined>;
  /** Calls `onChange` whenever something may have changed, and every few seconds. Resolves once it watches. */
  watch(onChange: () => void): Promise<Watch>;
}

export interface Watch {
  close(): Promise<void>;
}
