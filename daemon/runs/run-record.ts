import type { RunSaid } from '../../schema/run-report.ts';
import type { DeliveryLog, Run } from '../../store/ports/delivery-log.ts';
import type { KeptArtifacts, RunFiles } from '../../store/ports/run-files.ts';
import type { MaskedOutput, Masking } from './masking.ts';
import { type AttemptResult, RunCancelled, toClaim } from './runners/runner.ts';

export interface RunRecordDeps {
  readonly runFiles: Pick<RunFiles, 'appendOutput' | 'keepArtifacts'>;
  readonly deliveryLog: Pick<DeliveryLog, 'recordReport'>;
  readonly nowMs: () => number;
}

/** An open part of a run's output. */
export interface RecordOutput {
  /** Opens a stream, whose secrets are found though other streams write in between. */
  openStream(): MaskedOutput;
  /** Writes what the streams have kept back, and ends the part with a last line. Rejects if it could not be written. */
  close(lastLine: string): Promise<void>;
}

/** Everything that is kept of what the command or the receiver of an attempt says. All of it passes the masking. */
export class RunRecord {
  readonly #run: Run;
  readonly #masking: Masking;
  readonly #deps: RunRecordDeps;

  constructor(run: Run, masking: Masking, deps: RunRecordDeps) {
    this.#run = run;
    this.#masking = masking;
    this.#deps = deps;
  }

  said(said: RunSaid): RunSaid {
    return this.#masking.said(said);
  }

  result(result: AttemptResult): AttemptResult {
    if (result.reason === undefined) return result;
    return { ...result, reason: this.#masking.text(result.reason) };
  }

  /** Keeps what the attempt says of itself as the report of the run. Rejects if the log cannot. */
  async report(said: RunSaid, countMax = Infinity): ReturnType<DeliveryLog['recordReport']> {
    const { deliveryLog, nowMs } = this.#deps;
    const report = { atMs: nowMs(), ...this.said(said) };
    return deliveryLog.recordReport({ ...toClaim(this.#run), report, countMax });
  }

  /** Keeps artifacts, but none with a secret in its name. Returns whether all were kept. */
  keepFiles(given: KeptArtifacts): Promise<boolean> {
    const isKept = (name: string) => this.#masking.text(name) === name;
    return this.#deps.runFiles.keepArtifacts(this.#run, { ...given, isKept });
  }

  openOutput(heading: string, bytesMax: number): RecordOutput {
    const output = this.#deps.runFiles.appendOutput(this.#run.id, heading, bytesMax);
    const streams: MaskedOutput[] = [];
    return {
      openStream: () => {
        const stream = this.#masking.output(output);
        streams.push(stream);
        return stream;
      },
      close: async lastLine => {
        for (const stream of streams) await stream.flush();
        await output.close(this.#masking.text(lastLine));
      },
    };
  }
}

/**
 * Keeps the output of an attempt, below a heading with its number and time, at most `bytesMax` bytes of it, and the result as
 * its last line. Opens it only for `work`, which begins the attempt, and closes it however `work` ends. `onLost` makes the
 * result of an attempt whose output could not be kept.
 */
export async function withOutput(
  record: RunRecord,
  run: Run,
  { nowMs, bytesMax, onLost }: OutputOptions,
  work: (output: Pick<RecordOutput, 'openStream'>) => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const heading = `${run.afterwards ? 'afterwards, ' : ''}attempt ${run.attempts} at ${new Date(nowMs).toISOString()}`;
  const output = record.openOutput(heading, bytesMax);
  const result = record.result(await work(output).catch(toUnattempted));
  const { kind, reason } = result;
  const lastLine = kind === 'succeeded' && reason ? `${kind}, but ${reason}` : (reason ?? kind);
  return output.close(lastLine).then(
    () => result,
    (error: unknown) => onLost(result, error),
  );
}

interface OutputOptions {
  readonly nowMs: number;
  readonly bytesMax: number;
  readonly onLost: (result: AttemptResult, error: unknown) => AttemptResult;
}

/**
 * The result of an attempt in which hookmill itself failed, for example with a full disk or an unreadable log, or that did
 * not begin because somebody cancelled the run.
 */
export function toUnattempted(error: unknown): AttemptResult {
  if (error instanceof RunCancelled) return { kind: 'cancelled' };
  const what = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return { kind: 'unattempted', reason: `the run could not be executed (${what})` };
}
