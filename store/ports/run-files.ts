import type { Readable } from 'node:stream';
import type { EventHeaders } from '../../schema/headers.ts';
import type { Run, StoredEvent } from './delivery-log.ts';

/** The file name of a run's message. */
export const messageName = 'prompt.md';

/** Renders event headers as the text of their attachment: a JSON object of names in lower case. */
export function renderEventHeaders(headers: EventHeaders): string {
  return `${JSON.stringify(headers, null, 2)}\n`;
}

/** The folder of a command's directory in which it leaves artifacts. */
export const artifactsName = 'artifacts';

/** @limit Most artifacts kept of a run: a list that a person reads. */
export const artifactsMax = 100;
/** @limit Most bytes of artifacts kept of a run (64 MiB): as much as its output can have. */
export const artifactBytesMax = 64 * 1024 * 1024;

/** A file that a run left. */
export interface RunArtifact {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

/** The attempt that has left artifacts: its run, and the number of its claim. */
export type ArtifactsOf = Pick<Run, 'id' | 'claims'>;

/** Where a command has left artifacts, and whose. */
export interface KeptArtifacts {
  /** The directory with `artifacts/` in it; by default, the run's. */
  readonly from?: string | undefined;
  /** A uid: files of other users are left out. */
  readonly owner?: number | undefined;
  /** Tells by its name whether a file may be kept. */
  readonly isKept?: (name: string) => boolean;
}

/** The message and payload that a run works with, and its output. */
export interface RunFiles {
  /**
   * Makes the directories of runs in this one from now on, an absolute path outside the home that other users may enter.
   * Fails with `other-content` if runs have directories elsewhere, and with `unsafe` if others can change the directory.
   */
  placeIn(directory: string): Promise<void>;
  /**
   * Takes away the run's directory with all that earlier attempts left in it. Whoever still has a part of it open reaches
   * nothing of the next directory. Rejects if it cannot be removed.
   */
  discard(runId: string): Promise<void>;
  /**
   * Creates the run's directory with its message, payload and event headers, and returns its absolute path. The files
   * are on disk when this resolves. The message is written last: if it exists, the others do too. What else is in
   * the directory stays there. Only the owner of the directory can enter it; all files in it can be read by whoever does.
   * `gathered`: the events of all deliveries of a run that gathers them, which get numbered files of their own.
   */
  prepare(
    runId: string,
    message: string,
    event: StoredEvent,
    gathered?: AsyncIterable<StoredEvent>,
  ): Promise<string>;
  /** The absolute path of the run's directory on this machine, whether it exists or not. */
  locate(runId: string): string;
  /**
   * The absolute path of the run's output on this machine, whether it exists or not; undefined if the output is not in a
   * file. No command of a run gets it.
   */
  locateOutput(runId: string): string | undefined;
  /** Appends the output of one attempt below a heading; keeps at most `bytesMax` bytes of it. */
  appendOutput(runId: string, heading: string, bytesMax: number): RunOutput;
  /** The output of all attempts from a byte on, and its size; undefined if there is none. */
  readOutput(
    runId: string,
    from?: number,
  ): Promise<{ readonly size: number; readonly stream: Readable } | undefined>;
  /** Forgets the artifacts of earlier attempts at a run: none of them is listed beside those of an attempt that has begun. */
  beginArtifacts(attempt: ArtifactsOf): Promise<void>;
  /**
   * Keeps the ordinary files that the command of an attempt left in `artifacts/` of its directory. They are on disk when
   * this resolves, all or none of them. Returns false if something there was left out: it is of another kind, its name is
   * unusual or may not be kept, or there is too much. A second command that leaves none (`from`) keeps none. They are on this machine only.
   * Call it when the directory belongs to the daemon again.
   */
  keepArtifacts(attempt: ArtifactsOf, given?: KeptArtifacts): Promise<boolean>;
  /**
   * Makes a directory of its own for a second command of the run, with nothing but a copy of the artifacts of the attempt in
   * `artifacts/`, and returns its absolute path; undefined if this machine has no artifacts of that attempt.
   */
  prepareArtifacts(attempt: ArtifactsOf): Promise<string | undefined>;
  /** Removes that directory. */
  discardPrepared(runId: string): Promise<void>;
  /** The artifacts of the last attempt that left any, sorted by name. */
  listArtifacts(runId: string): Promise<RunArtifact[]>;
  readArtifact(
    runId: string,
    name: string,
  ): Promise<{ readonly size: number; readonly stream: Readable } | undefined>;
  /** The runs that have files. */
  list(): AsyncIterable<string>;
  remove(runId: string): Promise<void>;
}

/** Receives the output of one attempt. It keeps at most `bytesMax` bytes of it. */
export interface RunOutput {
  /**
   * Takes a chunk over, which must not be used afterwards. Bytes beyond `bytesMax` are counted, not kept. Resolves when
   * more may come: whoever waits for it needs little memory, however slow the disk is. Never rejects: `close` does.
   */
  write(chunk: Uint8Array): Promise<void>;
  isFull(): boolean;
  /** Adds a last line and ends the output. Rejects with the file system's error if anything could not be written. */
  close(lastLine: string): Promise<void>;
}
