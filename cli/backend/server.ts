import { findUnconfirmed } from '../../operations/plan/confirmations.ts';
import { type Diagnostic, hasErrors, shortenReport, sortDiagnostics } from '../../schema/diagnostics.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { DefinitionFiles } from '../../sources/definitions.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { listPromptPaths } from '../../sources/prompt-files.ts';
import { UsageError } from '../exit-status.ts';
import type { Place } from '../global-options.ts';
import type { ApplyRequest, ApplyResult, Backend, PlanResult } from './backend.ts';
import { askDaemon } from './daemon-health.ts';
import { findBase, readMergedDefinitions } from './merged-definitions.ts';
import type { Server } from './server-address.ts';
import { callServer } from './server-client.ts';

/** Creates a backend on a daemon's management API. It sends definition files, and never secrets. */
export function createServerBackend(server: Server, { factory, directory }: Place): Backend {
  const params = { factory };
  return {
    source: server.url,
    call: (id, parts) => callServer(server, id, { ...parts, params: { ...params, ...parts?.params } }),
    showDaemon: serial => askDaemon({ ...server, factory, serial }),
    plan: async ({ out, withImpact }) => {
      if (out !== undefined) throw new UsageError('--out cannot be combined with --server');
      const { source, reconcile } = await callServer(server, 'showStatus', { params });
      const base = findBase(reconcile?.followed, source);
      const { found, explain } = await readMergedDefinitions(directory, base, process.env);
      return explain(await planOnServer(server, params, readFiles(found), { impact: withImpact }));
    },
    apply: options => applyOnServer(server, params, directory, options),
    findRunFiles: () => undefined,
  };
}

type FactoryParams = { readonly factory: string };

type SentFiles = ReturnType<typeof readFiles>;

/** Selects the files to send, and finds the mistakes that only this machine can find, and others. */
function readFiles(found: DefinitionFiles) {
  const { texts, diagnostics } = parseDefinitions(found);
  // The server cannot see why a prompt file has no text, so it does not get an automation that names one.
  const promptless = diagnostics.filter(({ code }) => code === 'automation/prompt-file');
  const unsendable = new Set(promptless.map(({ file }) => file));
  // Files that are too many or too large are not parsed.
  const definitions = found.files.filter(({ file }) => texts.has(file) && !unsendable.has(file));
  const named = new Set(listPromptPaths(definitions));
  const prompts = [...(found.prompts ?? [])].filter(([path]) => named.has(path));
  const sent = [...definitions, ...(found.asides ?? [])].map(({ file, bytes }) => [file, bytes] as const);
  const files = [...sent, ...prompts].map(([path, bytes]) => ({
    path,
    content: Buffer.from(bytes).toString('utf8'),
  }));
  return { files, texts, diagnostics };
}

/**
 * Plans on the server, and sends it the mistakes in files that are not sent: only the server knows the UIDs and team
 * secrets that it takes to find all others, with their hints.
 */
async function planOnServer(
  server: Server,
  params: FactoryParams,
  { files, texts, diagnostics: own }: SentFiles,
  wanted: { readonly impact: boolean; readonly newUids?: readonly string[] | undefined },
): Promise<PlanResult> {
  const sent = new Set(files.map(({ path }) => path));
  const findings = own.filter(({ file }) => !sent.has(file));
  const body = { files, ...wanted, findings };
  const { diagnostics: found, ...plan } = await callServer(server, 'plan', { params, body });
  const diagnostics = addFindings(own, found);
  return { ok: !hasErrors(diagnostics), plan, diagnostics, texts };
}

/** Adds what the server found. Of a mistake that both found, keeps what the server says. */
function addFindings(own: readonly Diagnostic[], found: readonly Diagnostic[]): readonly Diagnostic[] {
  const identify = ({ file, code, range }: Diagnostic) => JSON.stringify([file, code, range?.start]);
  const known = new Set(found.map(identify));
  return shortenReport(sortDiagnostics([...own.filter(one => !known.has(identify(one))), ...found]));
}

/** Plans first, then applies exactly that plan: the server refuses if something else changed in between. */
async function applyOnServer(
  server: Server,
  params: FactoryParams,
  directory: string,
  { planFile, dryRun, adopt, newUids, confirm }: ApplyRequest,
): Promise<ApplyResult> {
  if (planFile !== undefined) throw new UsageError('A plan file cannot be combined with --server');
  const sent = readFiles(readDirectory(directory));
  const { files, texts } = sent;
  const planned = await planOnServer(server, params, sent, { impact: true, newUids });
  if (!planned.ok) return { ...planned, result: 'invalid' };
  if (dryRun) return { ...planned, result: 'dry-run', webhooks: [] };
  const { plan: shown } = planned;
  const unconfirmed = findUnconfirmed(shown.changes);
  if (unconfirmed.length > 0 && !(await confirm(async () => shown)))
    return { ...planned, result: 'declined' };
  const confirmed = [...new Set(unconfirmed.map(({ confirmation }) => confirmation.reason))];
  const body = { files, impact: true, origin: directory, confirm: confirmed, adopt, newUids };
  try {
    const call = { params, body, ifSerial: planned.plan.serial };
    const { diagnostics, result, webhooks, ...plan } = await callServer(server, 'apply', call);
    return { result, plan, webhooks, diagnostics, texts };
  } catch (error) {
    return { result: 'invalid', diagnostics: requireDiagnostics(error), texts };
  }
}

/** Returns the diagnostics if the server refused the definitions. Throws any other error again. */
function requireDiagnostics(error: unknown) {
  const diagnostics = error instanceof Refusal ? error.parts.diagnostics : undefined;
  if (diagnostics) return diagnostics;
  throw error;
}
