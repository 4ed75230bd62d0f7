import { posix } from 'node:path';
import type { JsonSchemaKind } from './json-schemas.ts';

/** The path of the JSON Schema that `init` copies into a definitions directory, which may have no node_modules. */
export function getEditorSchemaFile(kind: JsonSchemaKind): string {
  return posix.join('.hookmill-schemas', `${kind}.schema.json`);
}

/** The line that names a file's schema for yaml-language-server; `file` is relative to the definitions directory. */
export function createModeline(kind: JsonSchemaKind, file: string): string {
  const path = posix.relative(posix.dirname(file), getEditorSchemaFile(kind));
  return `# yaml-language-server: $schema=${path.startsWith('..') ? path : `./${path}`}\n`;
}
