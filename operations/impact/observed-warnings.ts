import type { AutomationDefinition, Trigger } from '../../schema/definitions/automation-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { parseFieldPath } from '../../schema/field-path.ts';
import { findFilterWarnings } from '../../schema/filters/warnings/find-filter-warnings.ts';
import {
  judgeByObservation,
  judgePathByObservation,
  type ObservedMistake,
} from '../../schema/payloads/judge-by-observation.ts';
import type { Observation } from '../../schema/payloads/observation.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { Change } from '../plan/plan.ts';

/**
 * Warns about filters and paths that do not fit the stored deliveries of their webhook. If that is not certainly a
 * mistake, warns only about automations that are created or changed: not every plan should report a filter for a rare
 * event.
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
  return automations.flatMap(automation => {
    const { name, triggers } = automation;
    const mistakes = triggers.flatMap((trigger, index) =>
      judgeTriggerByObservation(trigger, observations).map(mistake => {
        return { ...mistake, path: ['triggers', index, 'filter', 'payload', ...mistake.path] };
      }),
    );
    return [...mistakes, ...judgePaths(automation, observations)]
      .filter(({ isCertain }) => isCertain || changed.has(name))
      .map(({ code, message, hint, path }): Diagnostic => {
        return { code, severity: 'warning', message, hint, ...locate('automation', name, path) };
      });
  });
}

/** Compares the paths of an automation with the payloads of its webhooks. A path must fit the payloads of only one webhook. */
function judgePaths(
  { triggers, concurrencyKey, order, debounce }: AutomationDefinition,
  observations: (uid: string) => Observation | undefined,
) {
  const uids = new Set(triggers.flatMap(({ filter }) => filter.webhook_ids));
  const observed = [...uids].flatMap(uid => observations(uid) ?? []);
  const paths: [path: (string | number)[], text: string | undefined][] = [
    [['concurrencyKey'], concurrencyKey],
    [['order'], order],
    [['debounce', 'key'], debounce?.key],
  ];
  return paths.flatMap(([path, text]) => {
    const steps = text === undefined ? undefined : parseFieldPath(text);
    if (text === undefined || !steps) return [];
    const mistakes = observed.flatMap(one => judgePathByObservation(steps, text, one) ?? []);
    const [mistake] = mistakes;
    if (!mistake || mistakes.length < observed.length) return [];
    return [{ ...mistake, code: 'automation/path-not-sent' as const, path }];
  });
}

/** Compares a trigger with the payloads of its webhook. Leaves out mistakes that are reported without them. */
export function judgeTriggerByObservation(
  { filter: { webhook_ids, payload } }: Pick<Trigger, 'filter'>,
  observations: (uid: string) => Observation | undefined,
): readonly ObservedMistake[] {
  const observed = observations(webhook_ids[0] ?? '');
  if (!payload || !observed) return [];
  const explained = new Set(findFilterWarnings(payload).map(({ path: [key] }) => key));
  return judgeByObservation(payload, observed).filter(({ path: [key] }) => !explained.has(key));
}
