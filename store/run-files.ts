import type { Readable } from 'node:stream';

/** The name of the attachment with a delivery's payload, as the envelope gives it. */
export const attachmentName = 'event-payload.json';
/** The name of the file with a run's message. */
export const messageName = 'prompt.md';

/** What a run works with, and what it put out. */
export interface RunFiles {
  /**
   * Creates the run's directory with its message and payload, both on disk when this resolves; gives its absolute
   * path. The message is written last: whoever sees it sees the whole run. A later attempt finds both unchanged.
   */
  prepare(runId: string, message: string, payload: Uint8Array): Promise<string>;
  /** The absolute path of the run's directory, whether it exists or not. */
  directory(runId: string): string;
  /** Appends the output of one attempt, after a line that heads it; keeps at most `bytesMax` bytes of it. */
  appendOutput(runId: string, heading: string, bytesMax: number): RunOutput;
  /** The output of all attempts; undefined where there is none. */
  readOutput(runId: string): Promise<{ readonly size: number; readonly stream: Readable } | undefined>;
  /** The runs that have files. */
  list(): AsyncIterable<string>;
  remove(runId: string): Promise<void>;
}

/** Takes the output of one attempt; holds no more of it in memory than is kept. */
export interface RunOutput {
  /** Beyond the bound, only the number of bytes is kept. */
  write(chunk: Uint8Array): void;
  isFull(): boolean;
  /** Ends the output with a last line. Rejects with what the file system says if any of it could not be written. */
  close(lastLine: string): Promise<void>;
}
