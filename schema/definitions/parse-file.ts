import type { z } from 'zod';
import type { Diagnostic } from '../diagnostics.ts';
import { diagnoseShape } from './shape-mistakes.ts';
import { parseYaml } from './yaml-source.ts';

/** A parsed YAML file: its definition, or undefined if it has errors. The text is for code frames. */
export interface ParsedFile<T> {
  readonly definition: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
}

/** Parses a YAML file and checks it against its shape. Mistakes are returned, never thrown. */
export function parseFile<T>(shape: z.ZodType<T>, file: string, bytes: Uint8Array): ParsedFile<T> {
  const yaml = parseYaml(file, bytes);
  if (!yaml.ok) return { definition: undefined, diagnostics: yaml.diagnostics, text: yaml.text };
  const { source } = yaml;
  const { text } = source;
  const result = shape.safeParse(source.value);
  if (result.success) return { definition: result.data, diagnostics: [], text };
  return { definition: undefined, diagnostics: diagnoseShape(result.error, shape, source), text };
}
