import { z } from 'zod';
import type { Diagnostic } from '../diagnostics.ts';
import type { ChangedText } from './changed-text.ts';
import { quoteText } from './quote-text.ts';
import { takesText } from './shape-at.ts';
import { diagnoseShape, type Mistake, placeMistakes } from './shape-mistakes.ts';
import { nameShape } from './value-shapes.ts';
import { parseYaml, type YamlSource } from './yaml-source.ts';

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

/** What becomes of a valid file: its definition, unless there are errors. */
interface Completed<T> {
  readonly definition: T | undefined;
  readonly errors?: readonly Mistake[];
  /** What is valid, but probably not meant. */
  readonly warnings?: readonly Mistake[];
}

/**
 * Parses a YAML file and checks it against its shape. Mistakes are returned, never thrown. `complete` makes the
 * definition of what the file says.
 */
export function parseFile<Written, T>(
  shape: z.ZodType<Written>,
  file: string,
  bytes: Uint8Array,
  complete: (written: Written) => Completed<T>,
): ParsedFile<T> {
  const yaml = parseYaml(file, bytes);
  if (!yaml.ok) return { definition: undefined, diagnostics: yaml.diagnostics, text: yaml.text };
  const { source } = yaml;
  const { text } = source;
  const result = shape.safeParse(source.value);
  if (!result.success) {
    // A cut may be the cause of an error. Another form of a number has an error of its own where it may be one.
    const cuts = diagnoseChangedTexts(shape, source, ({ isCut }) => isCut);
    return {
      definition: undefined,
      diagnostics: [...diagnoseShape(result.error, shape, source), ...cuts],
      text,
    };
  }
  const { definition, errors = [], warnings = [] } = complete(result.data);
  const diagnostics = [
    ...diagnoseChangedTexts(shape, source),
    ...placeMistakes(errors, 'error', source),
    ...placeMistakes(warnings, 'warning', source),
  ];
  return { definition, diagnostics, text };
}

/** Warns of texts that YAML changed, where the shape takes the whole text: elsewhere, a comment is one. */
function diagnoseChangedTexts(
  shape: z.ZodType,
  { file, value, changedTexts }: YamlSource,
  isReported = (_: ChangedText) => true,
): Diagnostic[] {
  return changedTexts
    .filter(isReported)
    .filter(({ path, written }) => takesText({ shape, value }, path, written))
    .map(({ message, hint, range }) => ({
      ...{ code: 'yaml/changed-text', severity: 'warning', message: quoteText(message), file, range },
      hint: quoteText(hint),
    }));
}

export function parseWorkspace(file: string, bytes: Uint8Array): ParsedFile<Workspace> {
  return parseFile(workspaceShape, file, bytes, definition => ({ definition }));
}
