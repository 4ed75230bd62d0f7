import { Argument } from 'commander';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { addObservedPaths } from '../../../schema/payloads/observed-schema.ts';
import { openBackend } from '../../backend/open-backend.ts';
import { UsageError } from '../../exit-status.ts';
import { printExactly, printJson } from '../../output.ts';
import type { JsonSchemaKind } from '../../scaffold/json-schemas.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill schema`. */
export function declareSchema(command: CliCommand): void {
  command
    .explain(`print the JSON Schema of a definition or configuration file, for editors

webhook is for webhooks/*.yaml, automation for automations/*.yaml, workspace for hookmill.yaml, and daemon for the file
of serve --config. With --observed, an editor also completes the fields and values that the webhook of a trigger
received, but none that look like credentials. For yaml-language-server, add the first line # yaml-language-server: $schema=<path> to the file.

Examples:
  hookmill schema webhook > webhook.schema.json
  hookmill schema automation --observed > automation.schema.json
  hookmill schema daemon | jq .properties.limits`)
    .addArgument(
      new Argument('<kind>', 'kind of file').choices(['webhook', 'automation', 'workspace', 'daemon']),
    )
    .option('--observed', 'with automation: add the paths that applied webhooks received')
    .action(async (kind: JsonSchemaKind, { observed }: { observed?: true }, command: CliCommand) => {
      const { getJsonSchemaText } = await import('../../scaffold/json-schemas.ts');
      const text = getJsonSchemaText(kind);
      if (!observed) return printExactly(text);
      if (kind !== 'automation') throw new UsageError('--observed works only with automation');
      printJson(await addObserved(text, command));
    });
}

async function addObserved(text: string, command: CliCommand) {
  const { backend } = await openBackend(command);
  const { webhooks } = await backend.call('listWebhooks');
  const payloads = [];
  for (const { uid } of webhooks) payloads.push(await backend.call('describePayloads', { params: { uid } }));
  return addObservedPaths(parseJsonText(text) as Readonly<Record<string, unknown>>, payloads);
}
