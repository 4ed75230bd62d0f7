import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { AttemptResult } from './runner.ts';

/** Takes what one attempt puts out, in memory no more than its bound. */
export interface OutputLog {
  /** Of what is past the bound only the size is kept. */
  write(chunk: Uint8Array): void;
  readonly isFull: () => boolean;
  /** Ends the log with the result and gives it back; a log that cannot be written only adds to its reason. */
  close(result: AttemptResult): Promise<AttemptResult>;
}

/** Appends an attempt to the run's `output.log`, between a line that heads it and one that says how it ended. */
export function appendOutput(directory: string, heading: string, bytesMax: number): OutputLog {
  const file = createWriteStream(join(directory, 'output.log'), { flags: 'a', mode: 0o600 });
  // Listens from the start: the file may fail long before it is closed.
  const ended = finished(file).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  let kept = 0;
  let cut = 0;
  file.write(note(heading));
  return {
    write: chunk => {
      const part = chunk.subarray(0, bytesMax - kept);
      if (part.length > 0) file.write(part);
      kept += part.length;
      cut += chunk.length - part.length;
    },
    isFull: () => kept === bytesMax,
    close: async result => {
      if (kept > 0) file.write('\n');
      if (cut > 0) file.write(note(`the output is cut here; ${cut} bytes more are not kept`));
      file.end(note(result.reason ?? result.kind));
      const error = await ended;
      if (!error) return result;
      const lost = `its output could not be kept (${error.code})`;
      return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
    },
  };
}

function note(text: string): string {
  return `[hookmill: ${text}]\n`;
}
