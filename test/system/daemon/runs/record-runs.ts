import { createHash, randomBytes } from 'node:crypto';
import type { RunControl } from '../../../../schema/definitions/automation-definition.ts';
import { createSortableId } from '../../../../schema/ids.ts';
import type { DeliveryLog, RunFlow } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery } from '../../../support/deliveries.ts';

export interface SampleDelivery {
  readonly payload?: Uint8Array;
  readonly prompt?: string;
  /** What the automation says of its runs. */
  readonly control?: RunControl;
  readonly flow?: RunFlow;
  readonly runs?: number;
  readonly atMs?: number;
}

/** Records an accepted delivery of the webhook "pay" with runs of the automation "triage"; gives the runs' ids. */
export async function recordRuns(deliveryLog: DeliveryLog, given: SampleDelivery = {}): Promise<string[]> {
  const { payload = Buffer.from('{"amount":1}'), prompt = 'Triage this payment.\n', runs = 1 } = given;
  const { atMs = Date.now(), control = {}, flow } = given;
  const ids = Array.from({ length: runs }, () => createSortableId('run', atMs, randomBytes(16)));
  const json = JSON.stringify({ factory: 'default', automations: [{ name: 'triage', prompt, ...control }] });
  const appliedState = { digest: createHash('sha256').update(json).digest('hex'), json };
  const started = ids.map(id => ({ id, automation: 'triage', ...(flow && { flow }) }));
  await deliveryLog.recordAccepted(acceptedDelivery({ atMs, payload, appliedState, runs: started }));
  return ids;
}

/** Records one delivery with one run; gives the run's id. */
export async function recordRun(deliveryLog: DeliveryLog, given: SampleDelivery = {}): Promise<string> {
  const [id = ''] = await recordRuns(deliveryLog, { ...given, runs: 1 });
  return id;
}

/**
 * Records a burst of deliveries with these payloads, and gives the id of the run that gathers them. They are committed
 * together: a daemon that runs may start the run as soon as the first is recorded.
 */
export async function recordBurst(deliveryLog: DeliveryLog, payloads: readonly Buffer[]): Promise<string> {
  const flow = { burst: { lane: 'burst', forMs: 1, atMostMs: 10 } };
  const [id = ''] = await Promise.all(payloads.map(payload => recordRun(deliveryLog, { payload, flow })));
  return id;
}
