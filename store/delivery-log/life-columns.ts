import { parseJsonText } from '../../json/parse-json-text.ts';
import type { RunChange, RunLife } from './run-life.ts';

/** The columns of a run's life, with their types in PostgreSQL. */
export const lifeColumns = {
  state: ['state', 'text'],
  parked: ['parked', 'text'],
  attempts: ['attempts', 'integer'],
  claims: ['claims', 'bigint'],
  notBeforeMs: ['not_before_ms', 'bigint'],
  startedAtMs: ['started_at_ms', 'bigint'],
  finishedAtMs: ['finished_at_ms', 'bigint'],
  claimedBy: ['claimed_by', 'text'],
  claimedFor: ['claimed_for', 'text'],
  waitsUntilMs: ['waits_until_ms', 'bigint'],
  report: ['report', 'text'],
  error: ['error', 'text'],
  stopped: ['stopped', 'boolean'],
  dismissed: ['dismissed', 'boolean'],
  cancel: ['cancel', 'text'],
  afterwards: ['afterwards', 'text'],
  history: ['history', 'text'],
  interrupted: ['interrupted', 'text'],
} as const satisfies Record<keyof RunLife, readonly [column: string, type: string]>;

export type LifeColumn = keyof typeof lifeColumns;

/** A life as a database stores it: what is an object is JSON, and a flag is true or 1, or null. */
export type StoredLife = Readonly<Record<LifeColumn, string | number | boolean | null>>;

export function toLife(row: StoredLife): RunLife {
  const life = Object.entries(lifeColumns).map(([key, [, type]]) => {
    const value = row[key as LifeColumn];
    if (type === 'boolean') return [key, value === null ? null : Boolean(value)];
    return [key, objectColumns.has(key) && typeof value === 'string' ? parseJsonText(value) : value];
  });
  return Object.fromEntries(life) as unknown as RunLife;
}

/** A change as a database stores it. */
export function toStoredChange(change: RunChange): Partial<StoredLife> {
  const stored = Object.entries(change).map(([key, value]) => [
    key,
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
  ]);
  return Object.fromEntries(stored) as Partial<StoredLife>;
}

const objectColumns: ReadonlySet<string> = new Set<LifeColumn>([
  ...(['report', 'cancel', 'afterwards', 'history', 'interrupted'] as const),
]);
