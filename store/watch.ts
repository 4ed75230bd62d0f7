/** Something that is being watched, until it is closed. */
export interface Watch {
  close(): Promise<void>;
}
