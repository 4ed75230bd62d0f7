import { findUnconfirmed } from '../../operations/confirmations.ts';
import type { TestedAutomation } from '../../operations/deliveries.ts';
import type { LogFilter } from '../../operations/log-filter.ts';
import type { ListPosition } from '../../operations/page.ts';
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
    showStatus: () => callServer(server, 'showStatus', { params }),
    showDaemon: serial => askDaemon({ ...server, factory, serial }),
    plan: async ({ out, withImpact }) => {
      if (out !== undefined) throw new UsageError('--out cannot be combined with --server');
      return planOnServer(server, params, readFiles(directory), withImpact);
    },
    apply: options => applyOnServer(server, params, directory, options),
    listWebhooks: () => callServer(server, 'listWebhooks', { params }),
    listAutomations: () => callServer(server, 'listAutomations', { params }),
    testFilter: async (tested, delivery) => {
      const by = 'id' in delivery ? { delivery: delivery.id } : delivery;
      const body = { ...toTested(tested), ...by };
      const verdict = await callServer(server, 'testFilter', { params, body });
      if (typeof tested === 'string') return verdict;
      // The API knows only the triggers of a draft.
      const { name: automation, enabled } = tested;
      return { ...verdict, automation, enabled, wouldTrigger: enabled && verdict.wouldTrigger };
    },
    runByHand: (...given) => callServer(server, 'runByHand', { params, body: toRunByHand(...given) }),
    describePayloads: uid => callServer(server, 'describePayloads', { params: { ...params, uid } }),
    listDeliveries: async wanted => {
      const call = { params, query: toQuery(wanted) };
      const { deliveries: rows, ...end } = await callServer(server, 'listDeliveries', call);
      return { rows, ...end };
    },
    listUnlogged: webhook => callServer(server, 'listUnlogged', { params, query: { webhook } }),
    showHealth: uid => callServer(server, 'showHealth', { params, query: { webhook: uid } }),
    explainWhy: subject => callServer(server, 'explainWhy', { params: { ...params, subject } }),
    showDelivery: delivery => callServer(server, 'showDelivery', { params: { ...params, delivery } }),
    readPayload: delivery => callServer(server, 'downloadPayload', { params: { ...params, delivery } }),
    replayDelivery: async (delivery, automation) => {
      const call = { params: { ...params, delivery }, body: { automation } };
      return (await callServer(server, 'replayDelivery', call)).runs;
    },
    listRuns: async wanted => {
      const { runs: rows, ...end } = await callServer(server, 'listRuns', { params, query: toQuery(wanted) });
      return { rows, ...end };
    },
    listAudit: ({ limit, cursor }) =>
      callServer(server, 'listAudit', { params, query: { limit: String(limit), cursor } }),
    showRun: run => callServer(server, 'showRun', { params: { ...params, run } }),
    readRunOutput: (run, from = 0) =>
      callServer(server, 'showRunOutput', { params: { ...params, run }, query: { from: String(from) } }),
    readArtifact: (run, artifact) =>
      callServer(server, 'downloadArtifact', { params: { ...params, run, artifact } }),
    retryRun: run => callServer(server, 'retryRun', { params: { ...params, run }, body: {} }),
    dismissRun: run => callServer(server, 'dismissRun', { params: { ...params, run }, body: {} }),
    findRunFiles: () => undefined,
  };
}

function toRunByHand(...[wanted, { payload, headers }]: Parameters<Backend['runByHand']>) {
  const event = { payload: Buffer.from(payload).toString('utf8'), headers };
  if (typeof wanted === 'string') return { automation: wanted, ...event };
  return { draft: { ...wanted, triggers: [...wanted.triggers] }, ...event };
}

function toTested(tested: TestedAutomation) {
  return typeof tested === 'string' ? { automation: tested } : { triggers: tested.triggers };
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

function toQuery({ sinceMs, untilMs, limit, ...wanted }: LogFilter & ListPosition) {
  const toText = (atMs: number | undefined) =>
    atMs === undefined ? undefined : new Date(atMs).toISOString();
  return { ...wanted, since: toText(sinceMs), until: toText(untilMs), limit: String(limit) };
}
