import { describeRunState } from '../../schema/clients/describe.ts';
import type { Run } from '../../store/ports/delivery-log.ts';
import type { FilterTestView } from '../views/delivery-views.ts';
import { formatTime, type Judgement, ok, unknown, type WhyFacts, wrong } from './why-facts.ts';

/** @limit Longest time that a run waits without anything being wrong, in ms: usually it starts at once. */
const startMs = 10_000;

/** Judges whether the accepted delivery started runs, and if not, which filter kept it from that. */
export function judgeAutomationsStep(facts: WhyFacts): Judgement {
  const { listening, runs, tests, last } = facts;
  const accepted = last.get('Accepted');
  if (runs.length > 0)
    return ok(`${joinNames(runs.map(({ automation }) => automation))} matched the last delivery`);
  if (listening.length === 0)
    return wrong(
      'no automation listens to it',
      `Add a trigger with \`webhook_ids: [${facts.webhook?.uid ?? accepted?.uid}]\` to an automation.`,
    );
  const enabled = listening.filter(automation => automation.enabled);
  if (enabled.length === 0) return describeDisabled(listening.map(({ name }) => name));
  if (!accepted) return unknown('no delivery has been accepted');
  const matching = tests.filter(test => test.wouldTrigger);
  if (matching.length > 0)
    return wrong(
      `${joinNames(matching.map(test => test.automation))} matches the last delivery now, but did not when it came`,
      `Run \`hookmill deliveries replay ${accepted.id}\`.`,
    );
  const disabled = tests.filter(
    test => !test.enabled && test.triggers.some(({ wouldTrigger }) => wouldTrigger),
  );
  if (disabled.length > 0) return describeDisabled(disabled.map(test => test.automation));
  return describeMismatch(tests.find(test => test.enabled) ?? tests[0], accepted.id);
}

function describeDisabled(names: readonly string[]): Judgement {
  const verb = names.length === 1 ? 'is' : 'are';
  return wrong(
    `${joinNames(names)} ${verb} disabled`,
    'Enable it in the dashboard, or set `enabled: true` in its file and run `hookmill apply`.',
  );
}

function describeMismatch(test: FilterTestView | undefined, delivery: string): Judgement {
  if (!test) return unknown('its filters were not tested');
  const failed = test.triggers.flatMap(({ clauses, headers }) =>
    [...(headers?.clauses ?? []), ...clauses].filter(({ holds }) => !holds),
  );
  const lines = failed.map(
    ({ path, operator, allowed, found }) =>
      `${path} ${operator.replace('_', ' ')} ${allowed}: ${found === 'missing' ? 'missing' : `it is ${found}`}`,
  );
  const hints = test.warnings.map(({ hint }) => hint);
  const remedy =
    hints.length > 0
      ? `Correct the filter: ${hints.join('; ')}`
      : `Correct the filter, or wait for an event that it is for; \`hookmill automations test ${test.automation} --delivery ${delivery}\` shows each clause.`;
  return wrong(`the filter of ${test.automation} does not match the last delivery`, remedy, lines);
}

/** Judges the runs that the accepted delivery started. */
export function judgeRunsStep({ runs, output, nowMs, holding }: WhyFacts): Judgement {
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
    return wrong(message, `Correct the cause, then run \`hookmill runs retry ${failed.id}\`.`, output);
  }
  const retrying = runs.find(({ state, error }) => state === 'queued' && error !== undefined);
  if (retrying) {
    const message = `${nameRun(retrying)} waits for another attempt at ${formatTime(retrying.notBeforeMs)}; the last failed: ${retrying.error}`;
    return wrong(message, 'Correct the cause before the next attempt.', output);
  }
  if (holding) {
    const waiting = runs.filter(({ waitsFor }) => waitsFor === 'order').map(nameRun);
    return wrong(
      `${joinNames(waiting)} waits for an earlier run, and ${holding.id} failed, which may hold it`,
      `Correct the cause, then run \`hookmill runs retry ${holding.id}\`, or give it up: \`hookmill runs dismiss ${holding.id}\`.`,
    );
  }
  const waiting = runs.find(
    ({ state, waitsFor, notBeforeMs }) => state === 'queued' && !waitsFor && nowMs - notBeforeMs > startMs,
  );
  if (waiting) {
    const message = `${nameRun(waiting)} has waited to be started since ${formatTime(waiting.notBeforeMs)}`;
    return wrong(
      message,
      'Check that a daemon runs, and whether other runs take its places (`runs.concurrency`).',
    );
  }
  if (runs.length === 0) return unknown('none was started');
  return ok(runs.map(run => `${nameRun(run)} ${describeState(run)}`).join(', '));
}

function describeState(run: Run): string {
  const { state, startedAtMs, notBeforeMs, waitsFor } = run;
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
