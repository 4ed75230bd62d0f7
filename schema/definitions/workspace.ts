import { z } from 'zod';
import { type ParsedFile, parseDefinition } from './parse-file.ts';

/** What stands in `hookmill.yaml` beside the folders of definitions. */
export const workspaceShape = z.strictObject({
  factory: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'use lower case letters, digits and -, at most 63' })
    .optional()
    .describe('The factory that these definitions belong to; --factory and HOOKMILL_FACTORY override it.')
    .meta({ examples: ['payments'] }),
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'write the URL with http:// or https://' })
    .optional()
    .describe('The public URL of the ingress, used to print ingress URLs; HOOKMILL_BASE_URL overrides it.')
    .meta({ pattern: '^https?://', examples: ['https://hooks.example.com'] }),
});

export type Workspace = z.output<typeof workspaceShape>;

export function parseWorkspace(file: string, bytes: Uint8Array): ParsedFile<Workspace> {
  return parseDefinition(workspaceShape, file, bytes);
}
