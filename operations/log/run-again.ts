import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AppliedAutomation } from '../../schema/applied-state.ts';
import { createSnapshot, parseSnapshot } from '../../schema/automations-snapshot.ts';
import { hasEnded } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { Run } from '../../store/ports/delivery-log.ts';
import { requireOffered } from '../checks/runner-diagnostics.ts';
import type { OpenFactory } from '../factory.ts';
import type { RunView } from '../views/delivery-views.ts';
import { readPayload } from './deliveries.ts';
import { requireRun } from './require-logged.ts';
import { makeRun } from './run-by-hand.ts';
import { showRun } from './runs.ts';

/** Changes to the automation as it was when the run was recorded; by default, there are none. */
export interface RunAgain {
  readonly prompt?: string | undefined;
  readonly runner?: string | undefined;
}

/**
 * Starts a new run that does the work of one that has ended again, with the same deliveries. Fails with `run-unknown`,
 * `run-not-ended`, `payload-not-stored`, `automation-unknown` if its automation is no longer in the log, or
 * `request-invalid` if the daemon does not offer the runner.
 */
export async function runAgain(factory: OpenFactory, id: string, changed: RunAgain): Promise<RunView> {
  const run = await requireRun(factory, id);
  if (!hasEnded(run.state))
    throw new Refusal('run-not-ended', {
      detail: `the run ${id} is ${run.state}; wait for its end, or cancel it first`,
    });
  const { prompt, runner } = changed;
  const recorded = await requireRecorded(factory, run);
  const automation = {
    ...recorded,
    ...(prompt !== undefined && { prompt }),
    ...(runner !== undefined && { runner }),
  };
  requireOffered(automation, factory.name, await factory.store.offeredRunners.read());
  const payload: unknown = parseJsonText((await readPayload(factory, run.deliveryId)).toString('utf8'));
  const nowMs = factory.now().getTime();
  const started = { ...makeRun(factory, automation, payload, nowMs), againOf: id };
  const state = await factory.readState();
  const others = state.automations.filter(({ name }) => name !== automation.name);
  const appliedState = createSnapshot({ ...state, automations: [...others, automation] });
  const { deliveryId } = run;
  const isRecorded = await factory.useDeliveryLog(log =>
    log.replay({ deliveryId, runs: [started], appliedState, nowMs }),
  );
  if (!isRecorded) {
    const detail = `the delivery ${deliveryId} was removed from the log meanwhile`;
    throw new Refusal('payload-not-stored', { detail });
  }
  return showRun(factory, started.id);
}

/** The automation of a run as it was when the run was recorded. */
async function requireRecorded(
  { store }: OpenFactory,
  { snapshot, automation: name }: Run,
): Promise<AppliedAutomation> {
  const json = snapshot === undefined ? undefined : await store.deliveries.readSnapshot(snapshot);
  const recorded = json === undefined ? [] : parseSnapshot(json).automations;
  const automation = recorded.find(one => one.name === name);
  if (automation) return automation;
  throw new Refusal('automation-unknown', {
    detail: `the automation ${name} of the run is no longer in the log`,
  });
}
