import { type JsonSchemaKind, jsonSchemaText } from '../../scaffold/json-schemas.ts';

export function printSchema(kind: JsonSchemaKind): void {
  process.stdout.write(jsonSchemaText(kind));
}
