import type { Readable } from 'node:stream';

/** The file name of the attachment that holds a delivery's payload; the envelope names it. */
export const attachmentName = 'event-payload.json';
/** The file name of a run's message. */
export const messageName = 'prompt.md';

/** The message and payload that a run works with, and its output. */
export interface RunFiles {
  /**
   * Creates the run's directory with its message and payload, and returns its absolute path. Both files are on disk
   * when this resolves. The message is written last: if it exists, the payload does too. Later attempts leave both
   * unchanged.
   */
  prepare(runId: string, message: string, payload: Uint8Array): Promise<string>;
  /** The absolute path of the run's directory on this machine, whether it exists or not. */
  locate(runId: string): string;
  /** The absolute path of the run's output on this machine, whether it exists or not. No command of a run gets it. */
  locateOutput(runId: string): string;
  /** Appends the output of one attempt below a heading; keeps at most `bytesMax` bytes of it. */
  appendOutput(runId: string, heading: string, bytesMax: number): RunOutput;
  /** The output of all attempts; undefined if there is none. */
  readOutput(runId: string): Promise<{ readonly size: number; readonly stream: Readable } | undefined>;
  /** The runs that have files. */
  list(): AsyncIterable<string>;
  remove(runId: string): Promise<void>;
}

/** Receives the output of one attempt. Memory is bounded, because it keeps at most `bytesMax` bytes. */
export interface RunOutput {
  /** Bytes beyond `bytesMax` are counted, not kept. */
  write(chunk: Uint8Array): void;
  isFull(): boolean;
  /** Adds a last line and ends the output. Rejects with the file system's error if anything could not be written. */
  close(lastLine: string): Promise<void>;
}
