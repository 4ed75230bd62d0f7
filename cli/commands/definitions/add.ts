import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Command } from 'commander';
import { secretNamePattern } from '../../../schema/definitions/webhook-definition.ts';
import { didYouMean } from '../../../schema/suggestion.ts';
import { findScheme, schemeIds } from '../../../signatures/scheme.ts';
import { definitionFolders, definitionNamePattern } from '../../../sources/definition-file-name.ts';
import { definitionsDirectory } from '../../definitions/definitions-directory.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData, printStatus } from '../../output.ts';
import { renderSteps } from '../../render/render-steps.ts';
import { editorSchemaFile, modeline } from '../../scaffold/editor-schemas.ts';
import { definitionText, nextSteps, type Sender, secretNameFor } from '../../scaffold/new-webhook.ts';

interface AddOptions extends GlobalOptions {
  readonly name?: string;
  readonly secretName?: string;
  readonly dryRun?: true;
}

/** Writes the definition of a new webhook and tells what is left to do, here and at the provider. */
export async function add(schemeId: string, command: Command): Promise<void> {
  const options: AddOptions = command.optsWithGlobals();
  const directory = definitionsDirectory(options);
  const sender = senderOf(schemeId);
  const name = nameOf(options.name, sender);
  const secretName = options.secretName ?? secretNameFor(name, sender);
  if (!secretNamePattern.test(secretName)) {
    const rule = 'use up to 128 letters, digits, _ . and -';
    throw new CommandError(`"${secretName}" cannot name a team secret; ${rule}`, exitStatus.usage);
  }

  const file = posix.join(definitionFolders.webhook, `${name}.yaml`);
  const hasSchema = existsSync(join(directory, editorSchemaFile('webhook')));
  const text = `${hasSchema ? modeline('webhook', file) : ''}${definitionText(sender, secretName)}`;
  const path = join(directory, file);
  if (existsSync(path)) throw exists(file);
  if (!options.dryRun) create(path, file, text);

  const steps = nextSteps(sender, secretName);
  printStatus(`${options.dryRun ? 'Would write' : 'Wrote'} ${file}.`);
  const data = { file, written: !options.dryRun, name, secretName, definition: text, steps };
  printData(options, data, () => {
    const next = `Next:\n${renderSteps(steps, options.directory)}`;
    return options.dryRun ? `${text}\n${next}` : next;
  });
}

function senderOf(id: string): Sender {
  if (id === 'token' || id === 'url_token') return id;
  const scheme = findScheme(id);
  if (scheme) return scheme;
  const hint =
    didYouMean(id, ['token', 'url_token', ...schemeIds]) ??
    '`hookmill schemes list` prints the known ones; token and url_token need none';
  throw new CommandError(`unknown signature scheme "${id}"; ${hint}`, exitStatus.usage);
}

/** A sender with a scheme lends its name; one that merely has a token gives none. */
function nameOf(given: string | undefined, sender: Sender): string {
  const name = given ?? (typeof sender === 'string' ? undefined : sender.id);
  if (name === undefined) {
    const hint = 'give the webhook a name with --name, as in --name deploys';
    throw new CommandError(`${sender} says nothing of the sender; ${hint}`, exitStatus.usage);
  }
  if (definitionNamePattern.test(name)) return name;
  const rule = 'use lower case letters, digits and -, at most 63, the first not -';
  throw new CommandError(`"${name}" cannot name a webhook; ${rule}`, exitStatus.usage);
}

function create(path: string, file: string, text: string): void {
  try {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Also a link to nowhere, which does not exist and cannot be made.
    if (code === 'EEXIST') throw exists(file);
    throw new CommandError(`${file} cannot be written (${code})`);
  }
}

function exists(file: string): CommandError {
  return new CommandError(`${file} exists and is left as it is; --name gives the new webhook another name`);
}
