import type { Logger } from 'pino';
import { type PostedReport, pickUsage } from '../../schema/run-report.ts';
import type { DeliveryLog, DeliveryLogReader, OverduePart, Run } from '../../store/ports/delivery-log.ts';
import { MovingLook } from '../background-work.ts';
import type { RunEnd } from '../observability/run-metrics.ts';
import type { CallbackAttempt } from './callbacks.ts';
import { hideAll, type Masking, maskSecrets } from './masking.ts';
import { RunRecord, type RunRecordDeps } from './run-record.ts';
import type { AttemptResult } from './runners/runner.ts';

/** @limit Time between two looks for runs whose receivers did not report, or that nobody approved, in time, in ms. */
const overdueLookMs = 2_000;
/** @limit Runs whose time is over that are ended together: the others follow with the next look. */
const overdueMax = 100;
/** @limit Reports of progress in one attempt: each is a line in the output of the run. */
const reportsMax = 1_000;
/** @limit Attempts whose secrets are kept in memory to mask their reports: as many as usually wait for a receiver. */
const maskingsMax = 100;
/** @limit Bytes of a report that are kept in the output of the run: its message and its link always fit. */
const reportBytesMax = 16 * 1024;

export interface ReceiverReportsOptions {
  readonly deliveryLog: Pick<DeliveryLog, 'recordReport' | 'cancelRun'>;
  readonly reader: Pick<DeliveryLogReader, 'findRun' | 'listOverdueRuns'>;
  readonly runFiles: RunRecordDeps['runFiles'];
  /** Opens the masking of a run's attempt; undefined if its secrets cannot be read. */
  readonly openMasking: (run: Run) => Promise<Masking | undefined>;
  /** Records the end of an attempt, as `RunQueue.settle` does. */
  readonly settle: (run: Run, result: AttemptResult) => Promise<RunEnd>;
  readonly log: Logger;
  readonly nowMs: () => number;
}

/** How a report was taken. `over`: not at all, because its attempt has ended, or another one has begun. */
export type ReportTaken = 'recorded' | 'over' | 'too-many';

/**
 * Takes the reports of receivers that work on a run, and ends what did not come in time: the attempts of receivers that do
 * not report, and the runs that nobody approves.
 */
export class ReceiverReports {
  readonly #options: ReceiverReportsOptions;
  readonly #looks = { receiver: new MovingLook(overdueMax), approval: new MovingLook(overdueMax) };
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  /** The last report of each run that is being added to its output. */
  readonly #keeping = new Map<string, Promise<void>>();
  /** The maskings of attempts that reported last: the command of a reference is not run for each report. */
  readonly #maskings = new Map<string, Masking>();

  constructor(options: ReceiverReportsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#endOverdue().finally(() => {
        this.#looking = undefined;
      });
    }, overdueLookMs);
    this.#timer.unref();
  }

  /** Records a report. If the receiver reports the end, the attempt ends as if the daemon had executed it. */
  async take({ id, claims }: CallbackAttempt, posted: PostedReport): Promise<ReportTaken> {
    const { reader, settle } = this.#options;
    const { state, ...said } = posted;
    const countMax = state === 'running' ? reportsMax : Infinity;
    for (;;) {
      const run = await reader.findRun(id);
      if (run?.state !== 'running' || run.claims !== claims) return 'over';
      const record = new RunRecord(run, await this.#openMasking(run), this.#options);
      const kept = await record.report(said, countMax);
      if (kept === 'too-many') return kept;
      // The daemon that posted the run has just recorded that it waits: the run must be read again.
      if (kept === 'lost') continue;
      if (state !== 'running' && (await settle(run, toResult({ state, ...record.said(said) }))) === 'lost')
        continue;
      await this.#keep(run, record, `report of attempt ${run.attempts}`, said, state);
      if (state !== 'running') this.#maskings.delete(`${id} ${claims}`);
      return 'recorded';
    }
  }

  async #openMasking(run: Run): Promise<Masking> {
    const attempt = `${run.id} ${run.claims}`;
    const known = this.#maskings.get(attempt);
    if (known) return known;
    const masking = await this.#options.openMasking(run);
    if (!masking) return hideAll;
    this.#maskings.set(attempt, masking);
    const [oldest = ''] = this.#maskings.keys();
    if (this.#maskings.size > maskingsMax) this.#maskings.delete(oldest);
    return masking;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #endOverdue(): Promise<void> {
    await this.#endEach('receiver', async run => {
      const seconds = ((run.waitsUntilMs ?? 0) - (run.startedAtMs ?? 0)) / 1_000;
      const reason = `the receiver did not report the end within ${seconds} s`;
      if ((await this.#options.settle(run, { kind: 'retry', reason })) === 'lost') return;
      const record = new RunRecord(run, maskSecrets([]), this.#options);
      await this.#keep(run, record, `attempt ${run.attempts}`, {}, reason);
    });
    await this.#endEach('approval', async ({ id, notBeforeMs }) => {
      const { deliveryLog, log, nowMs } = this.#options;
      const reason = `nobody approved it by ${new Date(notBeforeMs).toISOString()}`;
      await deliveryLog.cancelRun({ id, cancel: { by: 'hookmill', atMs: nowMs(), reason } });
      log.warn({ run: id }, 'cancelled a run that nobody approved in time');
    });
  }

  /** Ends some of the runs whose time is over. One that cannot be ended keeps no other from it. */
  async #endEach(waitsFor: OverduePart['waitsFor'], end: (run: Run) => Promise<void>): Promise<void> {
    const { reader, log, nowMs } = this.#options;
    const { limit, skip } = this.#looks[waitsFor];
    try {
      const runs = await reader.listOverdueRuns({ waitsFor, nowMs: nowMs(), limit, skip });
      let stayed = 0;
      for (const run of runs) {
        await end(run).catch(err => {
          stayed++;
          log.error(
            { run: run.id, err },
            `cannot end a run whose ${waitsFor} is overdue; the daemon tries again`,
          );
        });
      }
      this.#looks[waitsFor].moveOn(runs.length, stayed);
    } catch (err) {
      log.error({ err }, `cannot look for runs whose ${waitsFor} is overdue; the daemon tries again`);
    }
  }

  /** Adds a report to the output of the run: one after the other, because they would mix in the same file. */
  async #keep(run: Run, ...report: Report): Promise<void> {
    const append = () => this.#append(run, ...report);
    const before = this.#keeping.get(run.id) ?? Promise.resolve();
    const kept = before.then(append, append);
    this.#keeping.set(run.id, kept);
    await kept;
    if (this.#keeping.get(run.id) === kept) this.#keeping.delete(run.id);
  }

  /** Appends to the output of the run. A failure is only logged, because the log has the report already. */
  async #append(run: Run, ...[record, heading, said, lastLine]: Report): Promise<void> {
    const { log, nowMs } = this.#options;
    const { message, link } = record.said(said);
    const at = new Date(nowMs()).toISOString();
    const output = record.openOutput(`${heading} at ${at}`, reportBytesMax);
    void output
      .openStream()
      .write(Buffer.from([message, link].filter(text => text !== undefined).join('\n')));
    await output
      .close(lastLine)
      .catch(err => log.warn({ run: run.id, err }, 'cannot keep a report in the output'));
  }
}

type Report = [record: RunRecord, heading: string, said: Omit<PostedReport, 'state'>, lastLine: string];

function toResult({ state, message, ...said }: PostedReport): AttemptResult {
  const usage = pickUsage(said);
  const used = usage && { usage };
  if (state === 'succeeded') return { kind: 'succeeded', ...used };
  const reason =
    message === undefined ? 'the receiver reported that it failed' : `the receiver reported: ${message}`;
  return { kind: 'retry', reason, ...used };
}
