import { createReadStream, createWriteStream } from 'node:fs';
import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { replaceFile, syncDirectory } from '../durable-file.ts';
import { attachmentName, messageName, type RunFiles, type RunOutput } from '../run-files.ts';
import { type Home, makePrivateDirectory } from './files/home.ts';

const runIdPattern = /^run_[0-9a-z]{26}$/;

/** The files of runs in a home: `runs/<run id>/`. */
export function openRunFiles({ runsDirectory }: Home): RunFiles {
  const locate = (runId: string) => join(runsDirectory, runId);
  const outputFile = (runId: string) => join(locate(runId), 'output.log');
  return {
    prepare: async (runId, message, payload) => {
      const directory = locate(runId);
      await makePrivateDirectory(directory);
      await replaceFile(join(directory, attachmentName), payload);
      await replaceFile(join(directory, messageName), message);
      await syncDirectory(runsDirectory);
      return directory;
    },
    locate,
    appendOutput: (runId, heading, bytesMax) => appendOutput(outputFile(runId), heading, bytesMax),
    readOutput: async runId => {
      const { size } = await stat(outputFile(runId)).catch(() => ({ size: undefined }));
      if (size === undefined) return undefined;
      return { size, stream: createReadStream(outputFile(runId), size === 0 ? {} : { end: size - 1 }) };
    },
    list: () => listRuns(runsDirectory),
    remove: runId => rm(locate(runId), { recursive: true, force: true }),
  };
}

async function* listRuns(runsDirectory: string): AsyncGenerator<string> {
  await makePrivateDirectory(runsDirectory);
  for await (const { name } of await opendir(runsDirectory)) if (runIdPattern.test(name)) yield name;
}

function appendOutput(path: string, heading: string, bytesMax: number): RunOutput {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  // Listens from the start, because writing may fail long before the output is closed.
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
    close: async lastLine => {
      if (kept > 0) file.write('\n');
      if (cut > 0) file.write(note(`output truncated: ${cut} more bytes were not kept`));
      file.end(note(lastLine));
      const error = await ended;
      if (error) throw error;
    },
  };
}

function note(text: string): string {
  return `[hookmill: ${text}]\n`;
}
