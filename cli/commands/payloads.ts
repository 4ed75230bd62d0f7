import type { PayloadsView } from '../../operations/log/deliveries.ts';
import { makeObservedSchema } from '../../schema/payloads/observed-schema.ts';
import { openBackend } from '../backend/open-backend.ts';
import { printData, printStatus, printText } from '../output.ts';
import { colours } from '../render/colours.ts';
import { renderTable } from '../render/render-table.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill payloads`. */
export function declarePayloads(command: CliCommand): void {
  command
    .explain(`show what senders really send

Examples:
  hookmill payloads describe deploys
  hookmill payloads describe deploys -o typescript > deploys.d.ts`)
    .subcommands({ describe });
}

function describe(command: CliCommand): void {
  command
    .explain(`show the paths, types and some values of the payloads that a webhook received

Reads the last 200 accepted deliveries. Values that look like credentials, and values of fields with names like token or
password, are never shown.

Examples:
  hookmill payloads describe deploys
  hookmill payloads describe deploys -o json-schema > deploys.schema.json
  hookmill payloads describe deploys -o typescript > deploys.d.ts`)
    .argument('<webhook>', 'name or UID of the webhook')
    .action(async (nameOrUid: string, _options, command: CliCommand) => describePayloads(nameOrUid, command));
}

async function describePayloads(nameOrUid: string, command: CliCommand): Promise<void> {
  const { backend } = await openBackend(command);
  const payloads = await backend.call('describePayloads', { params: { uid: nameOrUid } });
  if (payloads.deliveries === 0) printStatus('No accepted delivery is in the log yet.');
  const { output }: { output: 'text' | 'json' | 'json-schema' | 'typescript' } = command.optsWithGlobals();
  switch (output) {
    case 'json-schema':
      return printData('json', makeObservedSchema(nameType(payloads), payloads), () => '');
    case 'typescript':
      return printText(await renderTypeScript(payloads));
    default:
      return printData(output, payloads, () => renderPayloads(payloads));
  }
}

async function renderTypeScript(payloads: PayloadsView): Promise<string> {
  const { compile } = await import('json-schema-to-typescript-lite');
  const name = nameType(payloads);
  const schema = makeObservedSchema(name, payloads);
  return compile(schema, name, { additionalProperties: false });
}

/** The name of a webhook's payload as a type: `deploy-events` becomes `DeployEventsPayload`. */
function nameType({ webhook }: PayloadsView): string {
  const words = webhook.split('-').map(word => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Payload`;
}

/** Renders the shape of payloads: a line for each path, with how often it occurs, its types and some values. */
function renderPayloads({ deliveries, paths, hasMore }: PayloadsView): string {
  if (deliveries === 0) return '';
  const rows = paths.map(({ path, deliveries: count, types, examples, isEnumeration }) => {
    const values = examples.map(value => JSON.stringify(value)).join(', ');
    return [
      path,
      `${count} of ${deliveries}`,
      types.map(({ type }) => type).join(' or '),
      values === '' ? '' : isEnumeration ? `only ${values}` : `e.g. ${values}`,
    ];
  });
  const more = hasMore ? `${colours.dim('Further paths are not shown.')}\n` : '';
  return `${renderTable(['PATH', 'DELIVERIES', 'TYPE', 'VALUES'], rows)}${more}`;
}
