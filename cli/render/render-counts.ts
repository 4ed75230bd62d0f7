import type { Summary } from '../../operations/plan.ts';

/** The numbers of changes in a plan, in words. */
export function renderCounts({ add, change, destroy }: Summary): string {
  return `${add} to add, ${change} to change, ${destroy} to destroy`;
}
