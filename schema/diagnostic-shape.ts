import { z } from 'zod';
import type { DiagnosticCode } from './diagnostics.ts';

const position = z.strictObject({ line: z.int(), column: z.int() });

/** A `Diagnostic` that is stored or sent. Another version of hookmill may have written it, so any code is allowed. */
export const diagnosticShape = z.strictObject({
  code: z.custom<DiagnosticCode>(code => typeof code === 'string').meta({ type: 'string' }),
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  file: z.string(),
  range: z.strictObject({ start: position, end: position }).optional(),
  hint: z.string().optional(),
});
