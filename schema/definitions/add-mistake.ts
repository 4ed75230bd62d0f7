import type { z } from 'zod';
import type { DiagnosticCode } from '../diagnostics.ts';
import type { ForeignCondition, MisplacedValue } from '../filters/clause.ts';

/** The `params` of a zod issue that hookmill's own rules report. Not an interface: zod requires an index signature. */
export type MistakeParams = {
  readonly code: DiagnosticCode;
  readonly hint?: string | undefined;
  /** Whether the key at the path is wrong, not its value. */
  readonly atKey?: boolean;
  /** A value of a payload filter that may have a mistake besides its type. */
  readonly misplaced?: MisplacedValue;
  /** A condition of a header filter for which there may be a better hint. */
  readonly header?: ForeignCondition;
};

/** A rule about several keys of a definition, any of which may be wrong or missing. */
export interface KeyRule {
  readonly holds: (definition: Readonly<Record<string, unknown>>) => boolean;
  /** The key that is wrong or missing. */
  readonly key: string;
  readonly error: string;
  readonly params: MistakeParams;
}

/** Reports a mistake from inside a zod refinement. */
export function addMistake(
  context: z.RefinementCtx,
  path: PropertyKey[],
  message: string,
  params: MistakeParams,
): void {
  context.addIssue({ code: 'custom', path, message, params });
}
