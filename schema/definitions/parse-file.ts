import type { z } from 'zod';
import type { Diagnostic } from '../diagnostics.ts';
import { type ProblemParams, shapeProblems } from './shape-mistakes.ts';
import { parseYaml } from './yaml-source.ts';

/** What became of a definition file: the definition, or the errors that prevent it; its text for code frames. */
export interface ParsedFile<T> {
  readonly definition: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
}

/** Parses and checks a definition file against its shape. Every mistake is reported, none is thrown. */
export function parseDefinition<T>(shape: z.ZodType<T>, file: string, bytes: Uint8Array): ParsedFile<T> {
  const yaml = parseYaml(file, bytes);
  if (!yaml.ok) return { definition: undefined, diagnostics: yaml.diagnostics, text: yaml.text };
  const { source } = yaml;
  const result = shape.safeParse(source.value);
  if (result.success) return { definition: result.data, diagnostics: [], text: source.text };
  return {
    definition: undefined,
    diagnostics: shapeProblems(result.error, shape, source),
    text: source.text,
  };
}

/** Reports a mistake from inside a zod refinement. */
export function addProblem(
  context: z.RefinementCtx,
  path: PropertyKey[],
  message: string,
  params: ProblemParams,
): void {
  context.addIssue({ code: 'custom', path, message, params: problem(params) });
}

/** The `params` of a zod refinement that reports a mistake of ours. */
export function problem(params: ProblemParams): Record<string, unknown> {
  return { ...params };
}
