import { parseJsonText } from '../../json/parse-json-text.ts';
import { compileRunFlow, type FindRunFlow } from '../../operations/impact/run-flow.ts';
import type { RunFlowKeys } from '../../schema/definitions/automation-definition.ts';
import type { EventHeaders } from '../../schema/event-headers.ts';
import { compileFilterSteps, type NamedFilter } from '../../schema/filters/filter-index.ts';
import type { NewRun } from '../../store/ports/delivery-log.ts';

/** A filter of an enabled automation, with the flow of the runs that it starts. */
export interface ServedFilter extends NamedFilter {
  readonly flow: RunFlowKeys | undefined;
}

/** A run that a delivery starts, before it has an ID. */
export type StartingRun = Omit<NewRun, 'id'>;

/** Returns the runs that a payload and its event headers start: one of each enabled automation that matches. */
export type RunMatcher = (payload: unknown, headers?: EventHeaders) => readonly StartingRun[];

/** Compiles the filters of a webhook, given as JSON arrays of `ServedFilter`s. Each step takes about a millisecond at most. */
export function* compileRunMatcher(
  factory: string,
  parts: readonly string[],
): Generator<undefined, RunMatcher> {
  const filters: ServedFilter[] = [];
  const flows = new Map<string, FindRunFlow>();
  for (const part of parts) {
    filters.push(...(parseJsonText(part) as ServedFilter[]));
    yield;
  }
  for (const { name, flow } of filters) {
    const findFlow = flow && !flows.has(name) ? compileRunFlow(factory, { name, ...flow }) : undefined;
    if (findFlow) flows.set(name, findFlow);
    yield;
  }
  const match = yield* compileFilterSteps(filters);
  return (payload, headers) =>
    match(payload, headers).map(automation => {
      const flow = flows.get(automation)?.(payload);
      return flow ? { automation, flow } : { automation };
    });
}
