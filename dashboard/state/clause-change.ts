import { parseJsonText } from '../../json/parse-json-text.ts';
import { parseFieldPath } from '../../schema/field-path.ts';
import type { TestedOnStored } from '../api-types.ts';
import type { LocationQuery } from './page-location.ts';
import type { YamlPath } from './yaml-text.ts';

/** A value in the text of an automation, and where it is written. */
export interface TextChange {
  readonly path: YamlPath;
  readonly value: unknown;
}

type RepairedClause = Pick<
  TestedOnStored['clauses'][number],
  'trigger' | 'kind' | 'path' | 'operator' | 'suggestion'
>;

/** The change that repairs the near misses of a clause; undefined if none does. */
export function repairClauseText(clause: RepairedClause): TextChange | undefined {
  const { trigger, kind, path, operator, suggestion } = clause;
  const keys = kind === 'headers' ? [path] : parseFieldPath(path);
  if (!suggestion || !keys) return undefined;
  const value = operator === 'in' ? suggestion.values : { [operator]: suggestion.values };
  return { path: ['triggers', trigger, 'filter', kind, ...keys], value };
}

/** The query with which the editor of an automation opens with a change, for somebody to review. */
export function toChangeQuery({ path, value }: TextChange): LocationQuery {
  return { change: JSON.stringify([path, value]) };
}

/** Reads the change of a filter in an address; undefined if there is none, or if it is something else. */
export function readChange({ change }: LocationQuery = {}): TextChange | undefined {
  if (change === undefined) return undefined;
  try {
    const [path, value] = parseJsonText(change) as [unknown, unknown];
    if (!Array.isArray(path) || value === undefined) return undefined;
    const [triggers, , filter, kind, ...keys] = path;
    const isFilter =
      triggers === 'triggers' && filter === 'filter' && (kind === 'payload' || kind === 'headers');
    const isPath = path.every(key => typeof key === 'string' || Number.isInteger(key));
    return isFilter && isPath && keys.length > 0 ? { path, value } : undefined;
  } catch {
    return undefined;
  }
}
