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
