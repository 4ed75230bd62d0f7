import type { Trigger } from '../../schema/definitions/automation-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { findFilterWarnings } from '../../schema/filters/warnings/find-filter-warnings.ts';
import { judgeByObservation, type ObservedMistake } from '../../schema/payloads/judge-by-observation.ts';
import type { Observation } from '../../schema/payloads/observation.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { Change } from '../plan.ts';

/**
 * Warns about filters that the stored deliveries of their webhook do not fit. Where it is not certain to be a mistake,
 * only about automations that are created or changed: a filter for a rare event must not be reported by each plan.
 */
export function findObservedWarnings(
  { automations, locate }: Pick<Definitions, 'automations' | 'locate'>,
  observations: (uid: string) => Observation | undefined,
  changes: readonly Change[],
): Diagnostic[] {
  const isChanged = (action: Change['action']) => action === 'create' || action === 'update';
  const changed = new Set(
    changes.filter(({ kind, action }) => kind === 'automation' && isChanged(action)).map(({ name }) => name),
  );
  return automations.flatMap(({ name, triggers }) =>
    triggers.flatMap((trigger, index) =>
      judgeTriggerByObservation(trigger, observations)
        .filter(({ isCertain }) => isCertain || changed.has(name))
        .map(({ code, message, hint, path }): Diagnostic => {
          const place = locate('automation', name, ['triggers', index, 'filter', 'payload', ...path]);
          return { code, severity: 'warning', message, hint, ...place };
        }),
    ),
  );
}

/** Compares a trigger with what its webhook received. Leaves out what is reported as a mistake without that. */
export function judgeTriggerByObservation(
  { filter: { webhook_ids, payload } }: Pick<Trigger, 'filter'>,
  observations: (uid: string) => Observation | undefined,
): readonly ObservedMistake[] {
  const observed = observations(webhook_ids[0] ?? '');
  if (!payload || !observed) return [];
  const explained = new Set(findFilterWarnings(payload).map(({ path: [key] }) => key));
  return judgeByObservation(payload, observed).filter(({ path: [key] }) => !explained.has(key));
}
