/** Something that is being watched, until it is closed. */
export interface Watch {
  close(): Promise<void>;
}

/** Gets the factory whose applied state may have changed; without one, it may be that of any. */
export type OnStateChange = (factory?: string) => void;
