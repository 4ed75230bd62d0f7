import { z } from 'zod';
import type { DiagnosticCode } from '../diagnostics.ts';

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

/** A mistake in a request. */
export const mistakeAnswer = z.strictObject({
  pointer: z
    .string()
    .describe('The place in the body as a JSON Pointer (RFC 6901), or the name of a parameter.'),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

/** Says what to do instead of a change that the dashboard cannot make, because the factory comes from files. */
export const insteadAnswer = z.strictObject({
  text: z.string(),
  file: z.string().optional().describe('The definition file to write or remove.'),
  yaml: z.string().optional().describe('The new contents of the file.'),
});

/** A problem as in RFC 9457. */
export const problemAnswer = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string().optional(),
  mistakes: z.array(mistakeAnswer).optional(),
  diagnostics: z.array(diagnosticShape).optional(),
  instead: insteadAnswer.optional(),
});
