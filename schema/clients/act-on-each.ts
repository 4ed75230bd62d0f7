import type { RefusalCode } from '../refusal.ts';

/** @limit Most rows on which a bulk action acts in one second, unless `--rate` says another number: a daemon that executes a few runs at a time keeps up. */
export const bulkRatePerSecond = 10;

/** The result of acting on many rows. */
export interface BulkResult<Done> {
  readonly done: readonly Done[];
  readonly refused: readonly { readonly id: string; readonly code: RefusalCode }[];
  /** The number of rows that were not tried. */
  readonly rest: number;
  /** The error that ended it early. */
  readonly failure?: unknown;
}

interface BulkWork<Done> {
  readonly act: (id: string) => Promise<Done>;
  /** Waits until the turn of a row, given by its position. Returns false to end before it. */
  readonly awaitTurn: (position: number) => Promise<boolean>;
  /** Returns the reason why an operation was refused; undefined for any other error. */
  readonly codeOf: (error: unknown) => string | undefined;
  readonly onProgress: (tried: number) => void;
}

/** Refusals that are about one row, so that others may succeed. */
const ofOneRow = [
  'nothing-to-replay',
  'automation-disabled',
  'delivery-unknown',
  'run-unknown',
  'run-not-failed',
] as const satisfies RefusalCode[];

/** Does the same with each row, in their order. Ends with the first failure that is not about one row only. */
export async function actOnEach<Done>(
  ids: readonly string[],
  { act, awaitTurn, codeOf, onProgress }: BulkWork<Done>,
): Promise<BulkResult<Done>> {
  const done: Done[] = [];
  const refused: { id: string; code: RefusalCode }[] = [];
  let tried = 0;
  for (const id of ids) {
    if (!(await awaitTurn(tried))) break;
    try {
      done.push(await act(id));
    } catch (failure) {
      const code = ofOneRow.find(code => code === codeOf(failure));
      if (code === undefined) return { done, refused, rest: ids.length - tried, failure };
      refused.push({ id, code });
    }
    onProgress(++tried);
  }
  return { done, refused, rest: ids.length - tried };
}
