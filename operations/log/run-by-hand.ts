import { parseJsonText } from '../../json/parse-json-text.ts';
import { createSnapshot } from '../../schema/automations-snapshot.ts';
import type { AutomationDefinition, RunFlowKeys } from '../../schema/definitions/automation-definition.ts';
import { pinWebhooks } from '../../schema/definitions/webhook-names.ts';
import type { EventHeaders } from '../../schema/headers.ts';
import { createSortableId, sortableIdRandomBytes } from '../../schema/ids.ts';
import { Refusal } from '../../schema/refusal.ts';
import { isCredentialHeader } from '../../signatures/schemes.ts';
import type { NewRun } from '../../store/ports/delivery-log.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import { requireAutomation } from '../applied/require-applied.ts';
import type { Factory, OpenFactory } from '../factory.ts';
import { compileRunFlow } from '../impact/run-flow.ts';

/** The payload of a run that somebody starts by hand. */
export interface ManualEvent {
  /** JSON in UTF-8. */
  readonly payload: Uint8Array;
  readonly headers: EventHeaders;
  /** Starts the run although the automation is disabled. */
  readonly evenIfDisabled: boolean;
}

/**
 * Starts a run of an applied automation, or of a draft, whether its triggers match or not. The run keeps the draft, and
 * the payload is kept like a delivery that counts for no webhook.
 * Fails with `automation-unknown`, with `automation-disabled` unless that is wanted, with `webhook-unknown` if no trigger selects an applied webhook, or with
 * `request-invalid` if a header carries a credential, which no run gets.
 */
export async function runByHand(
  factory: OpenFactory,
  wanted: string | AutomationDefinition,
  { payload, headers, evenIfDisabled }: ManualEvent,
): Promise<{ readonly deliveryId: string; readonly runId: string }> {
  const state = await factory.readState();
  const found = typeof wanted === 'string' ? requireAutomation(state, wanted) : wanted;
  if (!found.enabled && !evenIfDisabled) {
    const detail = `the automation ${found.name} is disabled; enable it, or add --even-if-disabled for this one run`;
    throw new Refusal('automation-disabled', { detail });
  }
  const automation = pinWebhooks(found, state.webhooks);
  const uids = automation.triggers.flatMap(({ filter }) => filter.webhook_ids);
  const webhook = state.webhooks.find(({ uid }) => uids.includes(uid));
  if (!webhook) {
    const detail = `no trigger of the automation ${automation.name} selects an applied webhook; apply one first`;
    throw new Refusal('webhook-unknown', { detail });
  }
  const secret = Object.keys(headers).find(isCredentialHeader);
  if (secret !== undefined) {
    const detail = `${secret} carries a credential or a signature, which no run gets; leave it out`;
    throw new Refusal('request-invalid', { detail });
  }
  const nowMs = factory.now().getTime();
  const deliveryId = createSortableId('dlv', nowMs, factory.randomBytes(sortableIdRandomBytes));
  const run = makeRun(factory, automation, parseJsonText(Buffer.from(payload).toString('utf8')), nowMs);
  const others = state.automations.filter(({ name }) => name !== automation.name);
  const appliedState = createSnapshot({ ...state, automations: [...others, automation] });
  const manual = { factory: factory.name, webhook: webhook.name, payload, headers };
  const isRecorded = await factory.useDeliveryLog(log =>
    log.replay({ deliveryId, runs: [run], appliedState, nowMs, manual }),
  );
  if (!isRecorded) throw new DeliveryLogError('failed', 'the payload could not be stored; try again');
  return { deliveryId, runId: run.id };
}

/** Makes a run of an automation for a parsed payload, to be recorded. */
export function makeRun(
  { name, randomBytes }: Pick<Factory, 'name' | 'randomBytes'>,
  automation: RunFlowKeys & { readonly name: string },
  payload: unknown,
  nowMs: number,
): NewRun {
  const id = createSortableId('run', nowMs, randomBytes(sortableIdRandomBytes));
  const flow = compileRunFlow(name, automation)?.(payload);
  return { id, automation: automation.name, ...(flow && { flow }) };
}
