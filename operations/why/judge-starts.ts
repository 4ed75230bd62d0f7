import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { describeRunState } from '../../schema/clients/describe.ts';
import { defaultRunner } from '../../schema/delivery.ts';
import { renderCondition, renderNote } from '../../schema/filters/payload-filter-explain.ts';
import type { LoggedDelivery, Pause, Run } from '../../store/ports/delivery-log.ts';
import { remedyDisabled } from '../attention/remedies.ts';
import { describeTime } from '../health/judge-health.ts';
import type { VerdictView } from '../views/delivery-views.ts';
import { formatTime, type Judgement, ok, unknown, type WhyFacts, wrong } from './why-facts.ts';

/** @limit Longest time that a run waits without anything being wrong, in ms: usually it starts at once. */
const startMs = 10_000;
/** @limit How many times as long as usual a run takes until an explanation calls that wrong. */
const usualTimesMax = 3;

/** Judges whether the accepted delivery started runs, and if not, which filter kept it from that. */
export function judgeAutomationsStep(facts: WhyFacts): Judgement {
  const { listening, runs, verdicts, last } = facts;
  const accepted = last.get('Accepted');
  // Whatever kept deliveries from being accepted comes first.
  const atMs = accepted?.atMs ?? 0;
  if (runs.length > 0)
    return ok(`${joinNames(runs.map(({ automation }) => automation))} matched the last delivery`);
  if (listening.length === 0)
    return wrong(
      'no automation listens to it',
      `Add a trigger with \`webhook: ${facts.webhook?.name ?? accepted?.webhook}\` to an automation.`,
      { atMs },
    );
  const enabled = listening.filter(automation => automation.enabled);
  if (enabled.length === 0)
    return describeDisabled(
      listening.map(({ name }) => name),
      atMs,
      facts,
    );
  if (!accepted) return unknown('no delivery has been accepted');
  const matching = verdicts.filter(verdict => verdict.wouldTrigger);
  if (matching.length > 0)
    return wrong(
      `${joinNames(matching.map(({ automation }) => automation))} matches the last delivery now, but did not when it came`,
      `Run \`hookmill deliveries replay ${accepted.id}\`.`,
      { atMs },
    );
  const disabled = verdicts.filter(
    ({ enabled, triggers }) => !enabled && triggers.some(({ wouldTrigger }) => wouldTrigger),
  );
  if (disabled.length > 0)
    return describeDisabled(
      disabled.map(({ automation }) => automation),
      atMs,
      facts,
    );
  return describeMismatch(facts, accepted);
}

function describeDisabled(
  names: readonly string[],
  atMs: number | undefined,
  { management }: WhyFacts,
): Judgement {
  const verb = names.length === 1 ? 'is' : 'are';
  return wrong(
    `${joinNames(names)} ${verb} disabled`,
    remedyDisabled(management, { kind: 'automation', isByHand: false }),
    { atMs },
  );
}

/** Explains the nearest miss, and names the others with the fields that keep them from matching. */
function describeMismatch(
  { verdicts, warnings, listening, webhook }: WhyFacts,
  { id, atMs }: LoggedDelivery,
): Judgement {
  const [nearest, ...others] = verdicts;
  if (!nearest) return unknown('its filters were not tested');
  const failed = findFailedClauses(nearest);
  const lines = failed.map(
    ({ path, operator, allowed, found, ...clause }) =>
      `${renderCondition({ path, operator, allowed })}: ${found === 'missing' ? 'missing' : `it is ${found}`}${renderNote(clause)}`,
  );
  const brief = others.map(
    other =>
      `${other.automation}: ${findFailedClauses(other)
        .map(({ path }) => path)
        .join(', ')}`,
  );
  const untested =
    listening.filter(({ enabled }) => enabled).length - verdicts.filter(({ enabled }) => enabled).length;
  const message =
    others.length === 0
      ? `the filter of ${nearest.automation} does not match the last delivery`
      : `none of ${listening.length} automations matches the last delivery; ${nearest.automation} is the nearest`;
  const more = untested > 0 ? [`and ${untested} more`] : [];
  return wrong(message, describeRemedy(failed, warnings, { id, automation: nearest.automation, webhook }), {
    atMs,
    lines: [...lines, ...brief, ...more],
  });
}

type Clause = NonNullable<VerdictView['triggers'][number]['headers']>['clauses'][number];

/** The clauses that fail in the trigger for this webhook that is the nearest to a match. */
export function findFailedClauses({ triggers }: VerdictView): readonly Clause[] {
  const failed = triggers
    .filter(({ webhookHolds }) => webhookHolds)
    .map(({ clauses, headers }) => [...(headers?.clauses ?? []), ...clauses].filter(({ holds }) => !holds));
  return failed.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function describeRemedy(
  failed: readonly Clause[],
  warnings: WhyFacts['warnings'],
  { id, automation, webhook }: { id: string; automation: string; webhook: AppliedWebhook | undefined },
): string {
  // A hint on how to write a value does not help where the field is missing.
  const sent = failed.filter(({ found }) => found !== 'missing').map(({ path }) => withoutIndexes(path));
  const isAbout = (path: string) => sent.some(one => isSameOrBelow(path, one) || isSameOrBelow(one, path));
  const hints = warnings.flatMap(({ path, hint }) => (isAbout(withoutIndexes(path)) ? [hint] : []));
  if (hints.length > 0) return `Correct the filter: ${[...new Set(hints)].join('; ')}`;
  const shows = `\`hookmill automations test ${automation} --delivery ${id}\` shows each clause`;
  if (sent.length > 0) return `Correct the filter, or wait for an event that it is for; ${shows}.`;
  const observed = webhook
    ? `\`hookmill payloads describe ${webhook.name}\` shows what its deliveries have`
    : shows;
  return `Correct the path in the filter, or wait for an event that has the field; ${observed}.`;
}

function isSameOrBelow(path: string, other: string): boolean {
  return path === other || (path.startsWith(other) && /[.[]/.test(path.charAt(other.length)));
}

/** The path of a clause as filters have it: they look into each element of an array. */
function withoutIndexes(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '');
}

/** Judges the runs that the accepted delivery started. */
export function judgeRunsStep(facts: WhyFacts): Judgement {
  const judgement = judgeRuns(facts);
  const accepted = facts.last.get('Accepted');
  return judgement.state === 'wrong' ? { ...judgement, atMs: accepted?.atMs } : judgement;
}

function judgeRuns({ runs, output, nowMs, holding, usualMs, pause, ahead, offered }: WhyFacts): Judgement {
  const failed = runs.find(({ state, dismissed }) => state === 'failed' && !dismissed);
  if (failed?.stopped) {
    const remedy = `Check whether its own work fires the webhook, then run \`hookmill runs retry ${failed.id}\`.`;
    return wrong(
      `${nameRun(failed)} was stopped by \`runsPerHour\`: too many were started within an hour`,
      remedy,
    );
  }
  if (failed) {
    const times = failed.attempts === 1 ? 'one attempt' : `${failed.attempts} attempts`;
    const message = `${nameRun(failed)} failed after ${times}: ${failed.error ?? 'no reason was recorded'}`;
    return wrong(message, `Correct the cause, then run \`hookmill runs retry ${failed.id}\`.`, {
      lines: output,
    });
  }
  const paused = judgePaused(runs, pause) ?? judgeHeld(runs);
  if (paused) return paused;
  const retrying = runs.find(
    ({ state, error, cancel }) => state === 'queued' && error !== undefined && !cancel,
  );
  if (retrying) {
    const message = `${nameRun(retrying)} waits for another attempt at ${formatTime(retrying.notBeforeMs)}; the last failed: ${retrying.error}`;
    return wrong(message, 'Correct the cause before the next attempt.', { lines: output });
  }
  if (holding) {
    const waiting = runs.filter(({ waitsFor }) => waitsFor === 'order').map(nameRun);
    return wrong(
      `${joinNames(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'} for an earlier run; ${holding.id} failed and holds the runs behind it`,
      `Correct the cause, then run \`hookmill runs retry ${holding.id}\`, or give it up: \`hookmill runs dismiss ${holding.id}\`.`,
    );
  }
  const waiting = runs.find(
    ({ state, waitsFor, notBeforeMs }) => state === 'queued' && !waitsFor && nowMs - notBeforeMs > startMs,
  );
  if (waiting) {
    const runs = waiting.runner === defaultRunner ? 'runs' : `runs.runners.${waiting.runner}`;
    const message = `${nameRun(waiting)} has waited to be started since ${formatTime(waiting.notBeforeMs)}`;
    if (!offered.includes(waiting.runner))
      return wrong(
        `${message}, because no daemon offers the runner ${waiting.runner}`,
        `Add it to \`runs.runners\` of a daemon, and restart that. After \`runs.runnerWaitSeconds\`, the run fails.`,
      );
    return wrong(
      message,
      `Check that a daemon runs, and whether other runs take the places of the runner (\`${runs}.concurrency\`).`,
    );
  }
  const running = runs.find(({ state }) => state === 'running');
  const forMs = nowMs - (running?.startedAtMs ?? nowMs);
  if (running && usualMs !== undefined && forMs > usualTimesMax * usualMs + startMs) {
    const message = `${nameRun(running)} has been running for ${describeTime(forMs)}; it usually takes ${describeTime(usualMs)}`;
    return wrong(
      message,
      `\`hookmill runs logs ${running.id}\` shows what it put out so far; its time limit ends it.`,
    );
  }
  if (runs.length === 0) return unknown('none was started');
  return ok(runs.map(run => `${nameRun(run)} ${describeState(run, ahead)}`).join(', '));
}

function judgePaused(runs: readonly Run[], pause: Pause | undefined): Judgement | undefined {
  const paused = runs.find(({ waitsFor }) => waitsFor === 'paused');
  if (!paused) return undefined;
  const by = pause ? `, paused by ${pause.by} since ${formatTime(pause.atMs)}` : '';
  const until = pause?.untilMs === undefined ? '' : `; the pause ends at ${formatTime(pause.untilMs)}`;
  return wrong(
    `${nameRun(paused)} waits, because its automation is paused${by}${until}`,
    `Run \`hookmill automations resume ${paused.automation}\`, or cancel it: \`hookmill runs cancel ${paused.id}\`.`,
  );
}

function judgeHeld(runs: readonly Run[]): Judgement | undefined {
  const held = runs.find(({ waitsFor }) => waitsFor === 'approval');
  if (!held) return undefined;
  const since = formatTime(held.afterwards?.sinceMs ?? held.createdAtMs);
  return wrong(
    `${nameRun(held)} has waited for approval since ${since}, and is cancelled at ${formatTime(held.notBeforeMs)} without it`,
    `Look at what it left (\`hookmill runs artifacts ${held.id}\`), then run \`hookmill runs approve ${held.id}\`, or cancel it: \`hookmill runs cancel ${held.id}\`.`,
  );
}

function describeState(run: Run, ahead: Run | undefined): string {
  const { state, startedAtMs, notBeforeMs, waitsFor, cancel } = run;
  if (cancel) {
    const why = cancel.reason === undefined ? '' : `: ${cancel.reason}`;
    const by = `${cancel.by} at ${formatTime(cancel.atMs)}${why}`;
    return state === 'cancelled' ? `was cancelled by ${by}` : `is being cancelled, by ${by}`;
  }
  if (ahead && (waitsFor === 'order' || waitsFor === 'limit') && ahead.automation === run.automation)
    return `${describeRunState(run)}: ${ahead.id} ${describeState(ahead, undefined)}`;
  if (waitsFor === 'deliveries') return `${describeRunState(run)} until ${formatTime(notBeforeMs)}`;
  if (state === 'queued') return describeRunState(run) ?? 'is about to start';
  if (state === 'running') return `has been running since ${formatTime(startedAtMs ?? 0)}`;
  return state === 'failed' ? 'failed, and was dismissed' : state;
}

function nameRun({ id, automation }: Run): string {
  return `${id} of ${automation}`;
}

function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
