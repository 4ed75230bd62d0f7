import { buffer } from 'node:stream/consumers';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { pickUsage, type RunSaid, resultFileShape } from '../../../schema/run-report.ts';
import { dayMs } from '../../../schema/time-units.ts';
import { artifactBytesMax, artifactsMax, type RunFiles } from '../../../store/ports/run-files.ts';
import type { RunRecord } from '../run-record.ts';
import type { AfterwardsSettings } from '../run-settings.ts';
import { type Attempt, type AttemptResult, addReason } from './runner.ts';

/** The artifact in which a command says what came of it. */
const resultFileName = 'result.json';
/** @limit Largest `result.json` of a run, in bytes: its message and its link fit, and a transcript does not. */
const resultBytesMax = 64 * 1024;

export interface ResultDeps {
  readonly runFiles: Pick<RunFiles, 'listArtifacts' | 'readArtifact'>;
  readonly record: RunRecord;
  /** The uid of the command's user; absent if it ran as the daemon's. */
  readonly owner: number | undefined;
  /** The directory in which the artifacts are; by default, the run's. */
  readonly from?: string;
}

export interface KeptResult {
  readonly result: AttemptResult;
  /** How many artifacts there are. */
  readonly artifacts: number;
  /** Whether all that the command left was kept. */
  readonly isComplete: boolean;
}

/**
 * Keeps the artifacts of an attempt, and what its `result.json` says. An attempt that succeeded without an artifact that
 * its automation requires has failed. Rejects if they cannot be kept, which is not the attempt's result.
 */
export async function keepResult(
  attempt: Pick<Attempt, 'run' | 'requires'>,
  ended: AttemptResult,
  { runFiles, record, owner, from }: ResultDeps,
): Promise<KeptResult> {
  const { run, requires = [] } = attempt;
  const isComplete = await record.keepFiles({ owner, from });
  const names = new Set((await runFiles.listArtifacts(run.id)).map(({ name }) => name));
  const read = names.has(resultFileName) ? await readResultFile(run.id, runFiles) : {};
  const isRead = typeof read !== 'string';
  if (isRead && Object.keys(record.said(read)).length > 0) await record.report(read);
  const kept = isComplete ? ended : addReason(ended, leftOut);
  const missing = requires.filter(name => !names.has(name));
  const result = kept.kind === 'succeeded' ? requireArtifacts(kept, missing) : kept;
  const usage = isRead ? pickUsage(read) : undefined;
  const said = isRead ? result : addReason(result, read);
  return { result: { ...said, ...(usage && { usage }) }, artifacts: names.size, isComplete };
}

const leftOut = `not all artifacts were kept: only ordinary files with simple names and without a secret in the name are, up to ${artifactsMax} and ${artifactBytesMax / 1024 ** 2} MiB`;

/** The result of a run that goes on to the second command now, or waits for approval from now on. */
export function propose({ approval, approvalDays }: AfterwardsSettings, nowMs: number): AttemptResult {
  const approvalUntilMs = approval === 'required' ? nowMs + Math.ceil(approvalDays * dayMs) : undefined;
  return { kind: 'proposed', sinceMs: nowMs, approvalUntilMs };
}

/** The result of an attempt that exited with status 0, from which these artifacts are missing. */
function requireArtifacts(succeeded: AttemptResult, missing: readonly string[]): AttemptResult {
  if (missing.length === 0) return succeeded;
  const reason = `the command exited with status 0, but left no artifact ${missing.join(' and no ')}; was a tool refused?`;
  return { kind: 'retry', reason };
}

/** Reads what the command says of itself. Returns what is wrong with the file instead, without quoting it. */
async function readResultFile(
  runId: string,
  runFiles: Pick<RunFiles, 'readArtifact'>,
): Promise<RunSaid | string> {
  const file = await runFiles.readArtifact(runId, resultFileName);
  if (!file) return {};
  if (file.size > resultBytesMax) {
    file.stream.destroy();
    return `${resultFileName} was not read, because it has more than ${resultBytesMax / 1024} KiB`;
  }
  const parsed = resultFileShape.safeParse(tryParse((await buffer(file.stream)).toString()));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? `its ${issue.path.join('.')} is not valid` : 'it is not a JSON object';
  return `${resultFileName} was not taken, because ${where}`;
}

function tryParse(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
