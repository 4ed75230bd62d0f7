import { parseJsonText } from '../../json/parse-json-text.ts';
import { parseFieldPath } from '../../schema/field-path.ts';
import { isObject, type Scalar } from '../../schema/filters/clause.ts';
import type { LocationQuery } from './page-location.ts';

/** A change of one clause of an automation: what is written in place of its list of values. */
export interface ClauseChange {
  /** The index of the trigger. */
  readonly trigger: number;
  readonly kind: 'payload' | 'headers';
  /** The path of the clause in the payload, or the name of the header. */
  readonly path: string;
  /** An operator that takes a list. */
  readonly operator: string;
  readonly values: readonly Scalar[];
}

/** The query with which the editor of the automation opens with this change, for the person to review. */
export function toChangeQuery(change: ClauseChange): LocationQuery {
  return { change: JSON.stringify(change) };
}

/** Reads the change in an address; undefined if there is none, or if it is not well formed. */
export function readChange(query: LocationQuery = {}): ClauseChange | undefined {
  if (query.change === undefined) return undefined;
  try {
    const read = parseJsonText(query.change);
    if (!isObject(read)) return undefined;
    const { trigger, kind, path, operator, values } = read;
    const isChange =
      Number.isInteger(trigger) &&
      (kind === 'payload' || kind === 'headers') &&
      typeof path === 'string' &&
      typeof operator === 'string' &&
      Array.isArray(values) &&
      values.every(value => !isObject(value) && !Array.isArray(value));
    return isChange ? (read as unknown as ClauseChange) : undefined;
  } catch {
    return undefined;
  }
}

/** Where the change is in the definition of the automation, and what is written there; undefined if it is no field. */
export function toDefinitionEdit(change: ClauseChange):
  | {
      readonly path: readonly (string | number)[];
      readonly value: unknown;
    }
  | undefined {
  const { trigger, kind, path, operator, values } = change;
  const keys = kind === 'headers' ? [path] : parseFieldPath(path)?.map(String);
  if (!keys) return undefined;
  const operand = operator === 'in' ? [] : [operator];
  return { path: ['triggers', trigger, 'filter', kind, ...keys, ...operand], value: values };
}
