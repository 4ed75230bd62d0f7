import file from '../../../../docs/corpus/filters.json' with { type: 'json' };
import type { ClauseOutcome } from '../../../../schema/filters/payload-filter-explain.ts';

interface Verdict {
  readonly matches: boolean;
  readonly clauses: readonly Pick<ClauseOutcome, 'path' | 'operator' | 'holds'>[];
}

/** A filter of payloads, and a payload as text. */
interface PayloadCase extends Verdict {
  readonly filter: object;
  readonly payload: string;
}

/** A filter of headers, and the headers that were sent. */
interface HeaderCase extends Verdict {
  readonly headerFilter: object;
  readonly headers: Readonly<Record<string, string>>;
}

const cases = file.cases as readonly (PayloadCase | HeaderCase)[];
export const payloadCases = cases.filter(one => 'payload' in one);
export const headerCases = cases.filter(one => 'headers' in one);
