import { z } from 'zod';
import { nameShape } from '../name-shape.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';

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

export function parseWorkspace(file: string, bytes: Uint8Array): ParsedFile<Workspace> {
  return parseFile(workspaceShape, file, bytes);
}
