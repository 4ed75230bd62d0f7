import { posix } from 'node:path';
import automation from '../../schema/json/automation.schema.json' with { type: 'json' };
import daemon from '../../schema/json/daemon.schema.json' with { type: 'json' };
import webhook from '../../schema/json/webhook.schema.json' with { type: 'json' };
import workspace from '../../schema/json/workspace.schema.json' with { type: 'json' };

const schemas = { webhook, automation, workspace, daemon };

export type JsonSchemaKind = keyof typeof schemas;

/** The generated JSON Schema of a kind of file, as text. */
export function getJsonSchemaText(kind: JsonSchemaKind): string {
  return `${JSON.stringify(schemas[kind], null, 2)}\n`;
}

/** The path of the JSON Schema that `init` copies into a definitions directory, which may have no node_modules. */
export function getEditorSchemaFile(kind: JsonSchemaKind): string {
  return posix.join('.hookmill-schemas', `${kind}.schema.json`);
}

/** The line that names a file's schema for yaml-language-server; `file` is relative to the definitions directory. */
export function createModeline(kind: JsonSchemaKind, file: string): string {
  const path = posix.relative(posix.dirname(file), getEditorSchemaFile(kind));
  return `# yaml-language-server: $schema=${path.startsWith('..') ? path : `./${path}`}\n`;
}
