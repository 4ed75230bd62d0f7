import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { namePattern, nameRule, suggestSecretName } from '../../../schema/names.ts';
import { findSecretNameMistake } from '../../../schema/text/credentials.ts';
import { getDefinitionPath } from '../../../sources/definitions.ts';
import { createBelow, describeFileError } from '../../../sources/open-folder.ts';
import { describeUnknownScheme } from '../../describe-error.ts';
import { CommandError, UsageError } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData, printStatus } from '../../output.ts';
import { renderSteps } from '../../render/render-table.ts';
import type { Sender } from '../../scaffold/new-webhook.ts';
import { findDefinitionsDirectory } from '../../work-tree.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill add`. */
export function declareAdd(command: CliCommand): void {
  command
    .explain(`write the definition of a new webhook, and list the next steps

The next steps say which team secret to create, in the order in which the provider issues it, and what to configure
at the provider. Use a scheme of \`hookmill schemes list\`, or token or url_token for a sender that does not sign.

Examples:
  hookmill add stripe
  hookmill add token --name deploys --secret-name DEPLOYS_TOKEN`)
    .argument('<scheme>', "the sender's signature scheme, or token, or url_token")
    .option('--name <name>', 'name of the webhook (default: the scheme)')
    .option('--secret-name <name>', 'name of its team secret (default: derived from the name)')
    .option('--dry-run', 'show the definition and write nothing')
    .action(async (scheme: string, _, command: CliCommand) => add(scheme, command.optsWithGlobals()));
}

interface AddOptions extends GlobalOptions {
  readonly name?: string;
  readonly secretName?: string;
  readonly dryRun?: true;
}

async function add(schemeId: string, options: AddOptions): Promise<void> {
  const [{ createModeline, getEditorSchemaFile }, { listNextSteps, renderDefinition }] = await Promise.all([
    import('../../scaffold/json-schemas.ts'),
    import('../../scaffold/new-webhook.ts'),
  ]);
  const directory = findDefinitionsDirectory(options);
  const sender = await parseSender(schemeId);
  const name = chooseName(options.name, sender);
  const secretName =
    options.secretName ?? suggestSecretName(name, typeof sender === 'string' ? sender : 'signature');
  const mistake = findSecretNameMistake(secretName);
  if (mistake) throw new UsageError(`--secret-name: ${mistake.message}; ${mistake.hint}`);

  const file = getDefinitionPath('webhook', name);
  const hasSchema = existsSync(join(directory, getEditorSchemaFile('webhook')));
  const text = `${hasSchema ? createModeline('webhook', file) : ''}${renderDefinition(sender, secretName)}`;
  if (existsSync(join(directory, file))) throw refuseExisting(file);
  if (!options.dryRun) createFile(directory, file, text);

  const steps = listNextSteps(sender, secretName);
  printStatus(`${options.dryRun ? 'Would write' : 'Wrote'} ${file}.`);
  const data = { file, written: !options.dryRun, name, secretName, definition: text, steps };
  printData(options.output, data, () => {
    const next = `Next:\n${renderSteps(steps)}`;
    return options.dryRun ? `${text}\n${next}` : next;
  });
}

async function parseSender(id: string): Promise<Sender> {
  if (id === 'token' || id === 'url_token') return id;
  const { findScheme, schemeIds } = await import('../../../signatures/schemes.ts');
  const scheme = findScheme(id);
  if (scheme) return scheme;
  throw new UsageError(describeUnknownScheme(id, schemeIds, ['token', 'url_token']));
}

/** Uses the ID of the scheme unless a name is given. The token modes have no scheme, so they need a name. */
function chooseName(given: string | undefined, sender: Sender): string {
  const name = given ?? (typeof sender === 'string' ? undefined : sender.id);
  if (name === undefined) throw new UsageError(`--name is required with ${sender}, as in --name deploys`);
  if (namePattern.test(name)) return name;
  throw new UsageError(`"${name}" cannot name a webhook; use ${nameRule}`);
}

function createFile(directory: string, file: string, text: string): void {
  let isCreated: boolean;
  try {
    isCreated = createBelow(directory, file, text);
  } catch (error) {
    throw new CommandError(`${file} cannot be written (${describeFileError(error)})`);
  }
  // The file can be a broken symbolic link, which existsSync does not see.
  if (!isCreated) throw refuseExisting(file);
}

function refuseExisting(file: string): CommandError {
  return new CommandError(`${file} already exists; use --name to give the new webhook another name`);
}
