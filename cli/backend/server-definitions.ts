import type { Command } from 'commander';
import type { z } from 'zod';
import type { Change } from '../../operations/plan.ts';
import type { planAnswer } from '../../schema/api/answers.ts';
import { type Diagnostic, hasErrors } from '../../schema/diagnostics.ts';
import { Refusal } from '../../schema/refusal.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { type Place, placeOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { printData, printStatus } from '../output.ts';
import { planMarkdown, refusalMarkdown } from '../render/plan-markdown.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { renderAppliedPlan, renderPlan } from '../render/render-plan.ts';
import { callServer, type Server } from './server-client.ts';

export type PlanView = z.output<typeof planAnswer>;

export type ServerPlan =
  | { readonly ok: true; readonly plan: PlanView }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** The definitions directory as it is sent: its files, and what they say for code frames. */
interface SentDefinitions {
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly texts: ReadonlyMap<string, string>;
  /** Errors that the server need not be asked about. */
  readonly diagnostics: readonly Diagnostic[];
}

interface PlanOptions {
  readonly output: 'text' | 'json' | 'markdown';
  readonly detailedExitcode?: true;
  readonly out?: string;
}

/** `plan` against a server: the definitions are sent, and the server tells what they would change. */
export async function planOnServer(server: Server, command: Command): Promise<void> {
  const place = placeOf(command);
  const { output, detailedExitcode, out }: PlanOptions = command.optsWithGlobals();
  if (out !== undefined) throw new CommandError('--out is of a home: leave it out', exitStatus.usage);
  const sent = readDefinitions(place.directory);
  const planned = await askForPlan(server, place, sent);
  const diagnostics = planned.ok ? planned.plan.diagnostics : planned.diagnostics;
  process.stderr.write(renderDiagnostics(diagnostics, sent.texts));
  if (!planned.ok) {
    if (output === 'markdown') process.stdout.write(refusalMarkdown(place.factory, diagnostics));
    throw new CommandError('the definitions cannot be applied');
  }
  const { diagnostics: _, ...plan } = planned.plan;
  const { changes, summary, serial } = plan;
  if (output === 'markdown') {
    const explained = changes.map(change => ({ change, sentences: [] }));
    process.stdout.write(planMarkdown(place.factory, serial, summary, explained, diagnostics));
  } else printData(place, plan, () => renderPlan(changes, summary));
  if (detailedExitcode && summary.add + summary.change + summary.destroy > 0)
    process.exitCode = exitStatus.changes;
}

interface ApplyOptions {
  readonly dryRun?: true;
  readonly adopt?: true;
}

/** `apply` on a server: what was planned is applied, or nothing if something came between. */
export async function applyOnServer(
  server: Server,
  { dryRun, adopt }: ApplyOptions,
  confirmed: (plan: PlanView) => Promise<boolean>,
  command: Command,
): Promise<void> {
  const place = placeOf(command);
  const sent = readDefinitions(place.directory);
  if (sent.files.length === 0) printStatus(`There are no definitions in ${place.directory}.`);
  const planned = await askForPlan(server, place, sent);
  if (!planned.ok) throw refused(planned.diagnostics, sent);
  if (dryRun) return printPlan(place, planned.plan, sent);
  if (!(await confirmed(planned.plan))) {
    throw new CommandError('nothing was applied: destroying needs a yes at the prompt, or --yes');
  }
  const { serial } = planned.plan;
  const body = { files: sent.files, origin: place.directory, destroy: true, adopt: adopt ?? false };
  const params = { factory: place.factory };
  const applied = await callServer(server, 'apply', { params, body, ifSerial: serial }).catch(
    (error: unknown) => {
      const diagnostics = error instanceof Refusal ? error.parts.diagnostics : undefined;
      throw diagnostics ? refused(diagnostics, sent) : error;
    },
  );
  const { diagnostics, result, webhooks, ...plan } = applied;
  process.stderr.write(renderDiagnostics(diagnostics, sent.texts));
  printData(place, plan, () => renderAppliedPlan(plan.changes, plan.serial, webhooks, result === 'applied'));
}

/** What the definitions in the directory would change on the server. */
export async function planFor(server: Server, place: Place): Promise<ServerPlan> {
  return askForPlan(server, place, readDefinitions(place.directory));
}

async function askForPlan(server: Server, { factory }: Place, sent: SentDefinitions): Promise<ServerPlan> {
  const { files, diagnostics } = sent;
  if (hasErrors(diagnostics)) return { ok: false, diagnostics };
  try {
    const plan = await callServer(server, 'plan', { params: { factory }, body: { files } });
    return { ok: true, plan };
  } catch (error) {
    if (!(error instanceof Refusal) || !error.parts.diagnostics) throw error;
    return { ok: false, diagnostics: error.parts.diagnostics };
  }
}

function readDefinitions(directory: string): SentDefinitions {
  const found = readDirectory(directory);
  const { texts, diagnostics } = parseDefinitions(found);
  const files = found.files.map(({ file, bytes }) => ({
    path: file,
    content: Buffer.from(bytes).toString('utf8'),
  }));
  return { files, texts, diagnostics };
}

function printPlan(place: Place, { diagnostics, ...plan }: PlanView, { texts }: SentDefinitions): void {
  process.stderr.write(renderDiagnostics(diagnostics, texts));
  const changes: readonly Change[] = plan.changes;
  printData(place, plan, () => renderPlan(changes, plan.summary));
}

function refused(diagnostics: readonly Diagnostic[], { texts }: SentDefinitions): CommandError {
  process.stderr.write(renderDiagnostics(diagnostics, texts));
  return new CommandError('nothing was applied');
}
