import { findUnconfirmed } from '../../operations/confirmations.ts';
import { hasErrors } from '../../schema/diagnostics.ts';
import { Refusal } from '../../schema/refusal.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { UsageError } from '../exit-status.ts';
import type { Place } from '../global-options.ts';
import type { ApplyRequest, ApplyResult, Backend, PlanResult } from './backend.ts';
import { askDaemon } from './daemon-health.ts';
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
      return planOnServer(server, params, readFiles(directory), withImpact);
    },
    apply: options => applyOnServer(server, params, directory, options),
    findRunFiles: () => undefined,
  };
}

type FactoryParams = { readonly factory: string };

type SentFiles = ReturnType<typeof readFiles>;

/** Reads the definition files to send, and finds the mistakes that can be found without the server. */
function readFiles(directory: string) {
  const found = readDirectory(directory);
  const { texts, diagnostics } = parseDefinitions(found);
  const files = found.files.map(({ file, bytes }) => ({
    path: file,
    content: Buffer.from(bytes).toString('utf8'),
  }));
  return { files, texts, diagnostics };
}

async function planOnServer(
  server: Server,
  params: FactoryParams,
  { files, texts, diagnostics: own }: SentFiles,
  impact: boolean,
): Promise<PlanResult> {
  if (hasErrors(own)) return { ok: false, diagnostics: own, texts };
  try {
    const { diagnostics, ...plan } = await callServer(server, 'plan', { params, body: { files, impact } });
    return { ok: true, plan, diagnostics, texts };
  } catch (error) {
    return { ok: false, diagnostics: requireDiagnostics(error), texts };
  }
}

/** Plans first, then applies exactly that plan: the server refuses if something else changed in between. */
async function applyOnServer(
  server: Server,
  params: FactoryParams,
  directory: string,
  { planFile, dryRun, adopt, confirm }: ApplyRequest,
): Promise<ApplyResult> {
  if (planFile !== undefined) throw new UsageError('A plan file cannot be combined with --server');
  const sent = readFiles(directory);
  const { files, texts } = sent;
  const planned = await planOnServer(server, params, sent, true);
  if (!planned.ok) return { ...planned, result: 'invalid' };
  if (dryRun) return { ...planned, result: 'dry-run', webhooks: [] };
  const { plan: shown } = planned;
  const unconfirmed = findUnconfirmed(shown.changes);
  if (unconfirmed.length > 0 && !(await confirm(async () => shown)))
    return { ...planned, result: 'declined' };
  const confirmed = [...new Set(unconfirmed.map(({ confirmation }) => confirmation.reason))];
  const body = { files, impact: true, origin: directory, confirm: confirmed, adopt };
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
