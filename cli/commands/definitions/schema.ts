import { Argument, type Command } from 'commander';
import { printExactly } from '../../output.ts';
import type { JsonSchemaKind } from '../../scaffold/json-schemas.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill schema`. */
export function declareSchema(parent: Command): Command {
  return addCommand(
    parent,
    'schema',
    'print the JSON Schema of a definition or configuration file, for editors',
    `
webhook is for webhooks/*.yaml, automation for automations/*.yaml, workspace for hookmill.yaml, and daemon for the file
of serve --config. For yaml-language-server, add the first line # yaml-language-server: $schema=<path> to the file.

Examples:
  hookmill schema webhook > webhook.schema.json
  hookmill schema daemon | jq .properties.limits`,
  )
    .addArgument(
      new Argument('<kind>', 'kind of file').choices(['webhook', 'automation', 'workspace', 'daemon']),
    )
    .action(async (kind: JsonSchemaKind) => {
      const { getJsonSchemaText } = await import('../../scaffold/json-schemas.ts');
      printExactly(getJsonSchemaText(kind));
    });
}
