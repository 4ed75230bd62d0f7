import type { RunFlowKeys } from '../schema/definitions/run-flow-fields.ts';
import { createSortableId, sortableIdRandomBytes } from '../schema/ids.ts';
import type { NewRun } from '../store/delivery-log.ts';
import type { Factory } from './factory.ts';
import { compileRunFlow } from './run-flow.ts';

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
