import { z } from 'zod';
import type { Diagnostic } from '../diagnostics.ts';
import { nameShape } from '../name-shapes.ts';
import { diagnoseShape, type Mistake, placeMistakes } from './shape-mistakes.ts';
import { parseYaml } from './yaml-source.ts';

/** `hookmill.yaml`, beside the folders of definitions. */
export const workspaceShape = z.strictObject({
  factory: nameShape
    .optional()
    .describe('The factory that these definitions belong to. --factory and HOOKMILL_FACTORY override it.')
    .meta({ examples: ['payments'] }),
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'write the URL with http:// or https://' })
    .optional()
    .describe('The public URL of the ingress, used to print ingress URLs. HOOKMILL_BASE_URL overrides it.')
    .meta({ pattern: '^https?://', examples: ['https://hooks.example.com'] }),
});

export type Workspace = z.output<typeof workspaceShape>;

/** A parsed YAML file: its definition, or undefined if it has errors. The text is for code frames. */
export interface ParsedFile<T> {
  readonly definition: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
}

/**
 * Parses a YAML file and checks it against its shape. Mistakes are returned, never thrown. `findWarnings` finds what is
 * valid, but probably not meant.
 */
export function parseFile<T>(
  shape: z.ZodType<T>,
  file: string,
  bytes: Uint8Array,
  findWarnings: (definition: T) => readonly Mistake[] = () => [],
): ParsedFile<T> {
  const yaml = parseYaml(file, bytes);
  if (!yaml.ok) return { definition: undefined, diagnostics: yaml.diagnostics, text: yaml.text };
  const { source } = yaml;
  const { text } = source;
  const result = shape.safeParse(source.value);
  if (result.success) {
    const diagnostics = placeMistakes(findWarnings(result.data), 'warning', source);
    return { definition: result.data, diagnostics, text };
  }
  return { definition: undefined, diagnostics: diagnoseShape(result.error, shape, source), text };
}

export function parseWorkspace(file: string, bytes: Uint8Array): ParsedFile<Workspace> {
  return parseFile(workspaceShape, file, bytes);
}
