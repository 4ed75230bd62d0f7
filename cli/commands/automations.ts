import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readPayload } from '../../operations/deliveries.ts';
import { requireDelivery } from '../../operations/require-logged.ts';
import { judgeAutomation } from '../../schema/filters/judge-automation.ts';
import type { JudgedDelivery } from '../../schema/filters/judge-trigger.ts';
import { didYouMean } from '../../schema/suggestion.ts';
import { definitionFolders } from '../../sources/definition-file-name.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { runFixtures } from '../../sources/fixtures.ts';
import { backendOf } from '../backend/backend.ts';
import { type Context, contextOf, openFactory } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData, printStatus } from '../output.ts';
import { printable } from '../render/printable.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { renderVerdict } from '../render/render-verdict.ts';
import { fieldList, table } from '../render/table.ts';

export async function list(command: Command): Promise<void> {
  const { backend, output } = await backendOf(command);
  const { automations: data } = await backend.automations();
  printData({ output }, data, () => {
    if (data.length === 0) return 'No automations are applied.\n';
    const rows = data.map(({ name, enabled, triggers }) => {
      return [
        name,
        enabled ? 'yes' : 'no',
        triggers.map(({ webhook, uid }) => webhook ?? `${uid} (unknown)`).join(', '),
      ];
    });
    return table(['NAME', 'ENABLED', 'WEBHOOKS'], rows);
  });
}

export async function show(name: string, command: Command): Promise<void> {
  const { backend, output, factory } = await backendOf(command);
  const { automations } = await backend.automations();
  const data = findAutomation(name, { factory }, automations);
  printData({ output }, data, () => {
    const triggers = data.triggers.map(({ webhook, uid, payload }): [string, string] => {
      return [
        'trigger',
        `${webhook ?? 'unknown webhook, never fires:'} ${uid} ${JSON.stringify(payload) ?? ''}`,
      ];
    });
    const fields = fieldList([['name', data.name], ['enabled', data.enabled ? 'yes' : 'no'], ...triggers]);
    return `${fields}\n${data.prompt
      .split('\n')
      .map(line => `  ${line}`)
      .join('\n')
      .trimEnd()}\n`;
  });
}

interface TestOptions {
  readonly delivery?: string;
  readonly payload?: string;
  readonly fixtures?: true;
}

/** Evaluates the triggers of the definition in the work tree, so that a filter can be tried before it applies. */
export async function test(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const options = command.opts<TestOptions>();
  const ways = [options.delivery, options.payload, options.fixtures].filter(way => way !== undefined);
  if (ways.length !== 1)
    throw new CommandError('give one of --delivery, --payload and --fixtures', exitStatus.usage);

  const definitions = loadDirectory(context.directory);
  if (options.fixtures) return testFixtures(name, context, definitions);
  const automation =
    definitionOf(name, definitions) ??
    findAutomation(name, context, (await context.store.appliedStates.read(context.factory)).automations);
  const verdict = judgeAutomation(automation, await deliveryOf(context, options));
  printData(context, verdict, () => renderVerdict(verdict));
}

/** The definition in the work tree, undefined if there is none. One with mistakes is never passed over for what is applied. */
function definitionOf(name: string, { automations, diagnostics, texts }: Definitions) {
  const definition = automations.find(automation => automation.name === name);
  if (definition) return definition;
  const file = definitionFileOf(name);
  const mistakes = diagnostics.filter(diagnostic => diagnostic.file === file);
  if (mistakes.length === 0) return undefined;
  process.stderr.write(renderDiagnostics(mistakes, texts));
  throw new CommandError(`the definition of the automation ${name} has mistakes`);
}

function definitionFileOf(name: string): string {
  return `${definitionFolders.automation}/${name}.yaml`;
}

function testFixtures(name: string, context: Context, definitions: Definitions): void {
  if (!definitionOf(name, definitions)) {
    throw new CommandError(`there is no ${definitionFileOf(name)} here`);
  }
  const results = runFixtures(context.directory, '', definitions.automations).filter(
    ({ automation }) => automation === name,
  );
  const failed = results.filter(({ diagnostics }) => diagnostics.length > 0).length;
  const data = results.map(({ file, automation, diagnostics }) => ({ file, automation, diagnostics }));
  printData(context, data, () =>
    results
      .map(({ file, diagnostics, text }) =>
        diagnostics.length > 0
          ? renderDiagnostics(diagnostics, new Map([[file, text]]))
          : `${printable(file)}: as expected\n`,
      )
      .join(''),
  );
  printStatus(
    `${results.length === 1 ? '1 fixture' : `${results.length} fixtures`}, ${failed} not as expected.`,
  );
  if (failed > 0) throw new CommandError('');
}

async function deliveryOf(context: Context, { delivery, payload }: TestOptions): Promise<JudgedDelivery> {
  if (payload !== undefined) {
    const bytes = await readFile(resolve(payload)).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`the payload ${payload} cannot be read (${error.code})`, exitStatus.usage);
    });
    return { payload: parsePayload(bytes, payload) };
  }
  const factory = openFactory(context);
  const logged = await requireDelivery(factory, delivery ?? '');
  const bytes = await readPayload(factory, logged.id);
  return { webhookUid: logged.uid, payload: parsePayload(Buffer.from(bytes), logged.id) };
}

function parsePayload(bytes: Buffer, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new CommandError(
      `${what} is not JSON in UTF-8: it would be rejected before any automation sees it`,
    );
  }
}

/** Fails, with a suggestion, if there is none of that name. */
export function findAutomation<T extends { readonly name: string }>(
  name: string,
  { factory }: Pick<Context, 'factory'>,
  automations: readonly T[],
): T {
  const automation = automations.find(automation => automation.name === name);
  if (automation) return automation;
  const hint =
    didYouMean(
      name,
      automations.map(({ name }) => name),
    ) ?? '`hookmill automations list` prints those there are';
  throw new CommandError(`the factory ${factory} has no automation ${name}; ${hint}`);
}
