import { parseJsonText } from '../../json/parse-json-text.ts';
import { compileRunFlow, type FindRunFlow } from '../../operations/impact/run-flow.ts';
import type { RunFlowKeys } from '../../schema/definitions/automation-definition.ts';
import type { FormFormat } from '../../schema/delivery.ts';
import { compileFilterSteps, type NamedFilter } from '../../schema/filters/filter-index.ts';
import type { EventHeaders } from '../../schema/headers.ts';
import type { compileIdentity } from '../../schema/identity.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import type { AppliedStateRef, NewRun } from '../../store/ports/delivery-log.ts';
import type { Authenticator } from '../authentication/ingress-request.ts';

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

/** A webhook of an applied state, ready to receive: everything that does not depend on a request is prepared. */
export interface ServedWebhook {
  readonly factory: string;
  readonly name: string;
  readonly uid: string;
  readonly authMode: AuthMode;
  readonly identify: ReturnType<typeof compileIdentity>;
  /** The names of the headers that are kept of its deliveries, in lower case. */
  readonly keptHeaders: readonly string[];
  readonly authenticator: Authenticator;
  /** Undefined if its bodies are JSON. */
  readonly form: FormFormat | undefined;
  /** The auth mode or signature scheme that verifies its deliveries, as the log shows it. */
  readonly authenticatedBy: string;
  /** The answer to an accepted delivery, and to a duplicate. */
  readonly success: { readonly status: 200 | 202; readonly isEmpty?: boolean };
  readonly appliedState: AppliedStateRef;
  readonly matchRuns: RunMatcher;
}
