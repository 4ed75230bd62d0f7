import { posix } from 'node:path';
import type { JsonSchemaKind } from './json-schemas.ts';

/** A JSON Schema's place in a definitions directory, where `init` puts a copy: there need be no node_modules there. */
export function editorSchemaFile(kind: JsonSchemaKind): string {
  return posix.join('.hookmill-schemas', `${kind}.schema.json`);
}

/** The line that tells yaml-language-server the schema of a file; `file` is its place from the definitions directory. */
export function modeline(kind: JsonSchemaKind, file: string): string {
  const path = posix.relative(posix.dirname(file), editorSchemaFile(kind));
  return `# yaml-language-server: $schema=${path.startsWith('..') ? path : `./${path}`}\n`;
}
