import { hasEnded } from '../../schema/delivery.ts';
import type { ShownRun } from '../api-answers.ts';
import { formatDuration } from './format-time.ts';
import { lookOfRun, type SignName } from './looks.ts';

/** A stretch of a run's time: it waited, it was attempted, or it backed off. */
interface RunStretch {
  readonly key: string;
  readonly sign: SignName;
  readonly title: string;
  readonly fromMs: number;
  /** null: it goes on. */
  readonly toMs: number | null;
  /** What is known of it; of an attempt that failed, the reason. */
  readonly note?: string | undefined;
}

/** Shorter waits and back-offs are not told, in ms. */
const toldMs = 1_000;

/** What a run did with its time, in order, from its creation. */
export function listStretches(run: ShownRun): RunStretch[] {
  const createdMs = Date.parse(run.createdAt);
  const attempts = run.history ?? [];
  const stretches: RunStretch[] = [];
  let sinceMs = createdMs;
  for (const [index, { attempt, startedAt, endedAt, error }] of attempts.entries()) {
    const startedMs = Date.parse(startedAt);
    if (startedMs - sinceMs >= toldMs) stretches.push(gap(run, index === 0, sinceMs, startedMs));
    const isLast = index === attempts.length - 1;
    const [sign, word] = lookOfAttempt(run, isLast, endedAt !== null, error !== undefined);
    stretches.push({
      ...{ key: `attempt ${index}`, sign, title: `Attempt ${attempt} ${word}`, note: error },
      ...{ fromMs: startedMs, toMs: endedAt === null ? null : Date.parse(endedAt) },
    });
    sinceMs = endedAt === null ? startedMs : Date.parse(endedAt);
  }
  if (run.state === 'queued') stretches.push(openGap(run, attempts.length === 0, sinceMs));
  return stretches;
}

function lookOfAttempt(
  run: ShownRun,
  isLast: boolean,
  isOver: boolean,
  isFailed: boolean,
): readonly [SignName, string] {
  if (!isOver) return ['running', run.waitsUntil === undefined ? 'is running' : 'waits for its receiver'];
  if (isFailed) return ['failed', 'failed'];
  if (isLast && run.state === 'cancelled') return ['dismissed', 'was cancelled'];
  return ['done', isLast && !hasEnded(run.state) ? 'ended' : 'succeeded'];
}

function gap(run: ShownRun, isFirst: boolean, fromMs: number, toMs: number): RunStretch {
  const title = isFirst ? `Waited${inLane(run)}` : 'Backed off';
  return { key: `gap ${fromMs}`, sign: 'done', title, fromMs, toMs };
}

function openGap(run: ShownRun, isFirst: boolean, fromMs: number): RunStretch {
  const [sign] = lookOfRun(run);
  const title = run.waitsFor === undefined && !isFirst ? 'Backs off' : `Waits${inLane(run)}`;
  return { key: 'open', sign, title, fromMs, toMs: null, note: run.waitsFor && waitNotes[run.waitsFor] };
}

const waitNotes = {
  order: 'For an earlier run of its order.',
  limit: 'For other runs to end.',
  deliveries: 'For more deliveries.',
  paused: 'Its automation is paused.',
  approval: 'For approval.',
} as const;

function inLane({ lane }: ShownRun): string {
  return lane && lane.value !== null ? ` in lane ${lane.value}` : '';
}

/** Places a stretch on the axis from the creation of the run to its end, or to now. */
export function placeStretch(
  { fromMs, toMs }: RunStretch,
  run: ShownRun,
  nowMs: number,
): { readonly from: number; readonly length: number } {
  const createdMs = Date.parse(run.createdAt);
  const endMs = Math.max(createdMs + 1, run.finishedAt === null ? nowMs : Date.parse(run.finishedAt));
  const part = (ms: number) => Math.min(1, Math.max(0, (ms - createdMs) / (endMs - createdMs)));
  const from = part(fromMs);
  return { from, length: Math.max(0.005, part(toMs ?? endMs) - from) };
}

/** How long a run took, or has taken so far; undefined before its first attempt. */
export function lengthOfRun(
  {
    startedAt,
    finishedAt,
    createdAt,
    state,
  }: Pick<ShownRun, 'startedAt' | 'finishedAt' | 'createdAt' | 'state'>,
  nowMs: number,
): string | undefined {
  if (startedAt === null) return undefined;
  if (state === 'queued') return undefined;
  return formatDuration(
    Math.max(0, (finishedAt === null ? nowMs : Date.parse(finishedAt)) - Date.parse(createdAt)),
  );
}

/** What came of a run, in a line: what its receiver said, why it failed, or what it waits for. */
export function describeResult(run: ShownRun): {
  readonly text: string;
  readonly tone: 'plain' | 'quiet' | 'bad';
} {
  const { state, report, error, waitsFor, stopped, dismissed } = run;
  const firstLine = error?.split('\n')[0] ?? '';
  if (state === 'failed') {
    if (stopped) return { text: 'Stopped: too many runs were started within an hour', tone: 'quiet' };
    return { text: firstLine || report?.message || 'Failed', tone: dismissed ? 'quiet' : 'bad' };
  }
  if (state === 'cancelled') {
    return { text: run.cancel?.reason ?? `Cancelled by ${run.cancel?.by ?? 'somebody'}`, tone: 'quiet' };
  }
  if (state === 'succeeded')
    return { text: report?.message ?? 'succeeded', tone: report?.message ? 'plain' : 'quiet' };
  if (waitsFor) return { text: describeWait(run, waitsFor), tone: 'quiet' };
  if (report?.message !== undefined) return { text: `“${report.message}”`, tone: 'quiet' };
  return {
    text: firstLine && `Attempt ${run.attempts - (state === 'running' ? 1 : 0)}: ${firstLine}`,
    tone: 'quiet',
  };
}

function describeWait({ heldBy, lane }: ShownRun, waitsFor: NonNullable<ShownRun['waitsFor']>): string {
  const of = lane && lane.value !== null ? ` of ${lane.value}` : '';
  if (heldBy !== undefined) return `Waits for the failed run${of}`;
  return { ...waitNotes, order: `Waits for an earlier run${of}`, limit: `Waits for other runs${of} to end` }[
    waitsFor
  ];
}

/** A part of an output: an attempt, with the number that it says. */
export interface OutputPart {
  readonly label: string;
  readonly lines: readonly string[];
}

const heading = /^\[hookmill: ((?:afterwards, )?attempt \d+) at /;
// What a terminal does with colours and cursors, ECMA-48 section 5.4; and what it overwrites.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Divides an output by attempts, without the colours of a terminal. */
export function splitOutput(output: string): OutputPart[] {
  const parts: { label: string; lines: string[] }[] = [];
  for (const line of output.replaceAll(escapes, '').replace(/\n$/, '').split('\n')) {
    const label = heading.exec(line)?.[1];
    if (label !== undefined || parts.length === 0) parts.push({ label: label ?? 'output', lines: [] });
    parts.at(-1)?.lines.push(line);
  }
  return parts;
}
