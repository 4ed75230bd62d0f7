import { resolve } from 'node:path';
import { applyDefinitions } from '../../operations/applied/apply.ts';
import type { Remediable } from '../../operations/attention/remedies.ts';
import { type AppliedStatus, showStatus } from '../../operations/attention/status.ts';
import { readRememberedRepository } from '../../operations/branch/remembered-repository.ts';
import type { OpenFactory } from '../../operations/factory.ts';
import { readImpacts } from '../../operations/impact/read-impacts.ts';
import { findUnconfirmed } from '../../operations/plan/confirmations.ts';
import type { Change } from '../../operations/plan/plan.ts';
import type { Planned } from '../../operations/plan/plan-definitions.ts';
import { planFactory } from '../../operations/plan/plan-factory.ts';
import {
  findOutdatedParts,
  makePlanFile,
  type PlanFile,
  planFileShape,
} from '../../operations/plan/plan-file.ts';
import { type PlanView, planView } from '../../operations/views/plan-view.ts';
import type { CallOperation } from '../../schema/api/call.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { addDiagnostics, type Diagnostic } from '../../schema/diagnostics.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { printable } from '../../schema/text/printable.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { type FollowedRepository, toFollowedBranch } from '../../sources/repository/followed-repository.ts';
import { replaceFile } from '../../store/home/durable-file.ts';
import { parseJsonFile } from '../../store/stored-json.ts';
import { type Context, toOpenFactory } from '../context.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { readInputFile } from '../input/read-input.ts';
import { findOwnActor } from '../record-own-change.ts';
import type { ApplyRequest, ApplyResult, Backend, PlanRequest, PlanResult } from './backend.ts';
import { askDaemon, askReadiness, type DaemonHealth, isServed } from './daemon-health.ts';
import { findBase, readMergedDefinitions } from './merged-definitions.ts';

/** Creates a backend on a home. Whoever can read the home may see everything but secrets. */
export function createHomeBackend(context: Context): Backend {
  const factory = toOpenFactory(context);
  const { store, baseUrl, ownBaseUrl } = context;
  const { postgres, home } = store.place;
  let called: Promise<CallOperation> | undefined;
  return {
    source: postgres?.url ?? home,
    call: async (id, parts) => {
      called ??= import('./call-here.ts').then(({ createCallHere }) =>
        createCallHere(factory, {
          ...{ baseUrl, ownBaseUrl, findIngress: () => findIngress(context) },
          findDaemonProblem: () => findProblem(context, factory),
        }),
      );
      return (await called)(id, parts);
    },
    showDaemon: serial => showDaemon(context, serial),
    plan: options => planDirectory(context, factory, options),
    apply: options => applyDirectory(context, factory, options),
    findRunFiles: id => {
      const { runFiles } = store;
      return { directory: runFiles.locate(id), outputFile: runFiles.locateOutput(id) };
    },
  };
}

async function showDaemon({ store, factory }: Context, serial: number): Promise<DaemonHealth> {
  const daemon = await store.daemonAddress.read();
  if (!daemon) return { state: 'none', url: null, reason: null, serial: null };
  return askDaemon({ url: daemon.managementUrl, id: daemon.id, factory, serial });
}

/** Finds where the ingress of the daemon of this home listens; null unless that daemon answers. */
async function findIngress({ store }: Context): Promise<string | null> {
  const { listensAt, managementUrl, id } = (await store.daemonAddress.read()) ?? {};
  if (listensAt === undefined || managementUrl === undefined) return null;
  return (await askReadiness(managementUrl, { id })) ? listensAt : null;
}

async function findProblem(context: Context, factory: OpenFactory) {
  const status = await showStatus(factory, 'read', null);
  return findDaemonProblem(await showDaemon(context, status.serial), status);
}

async function planDirectory(
  context: Context,
  factory: OpenFactory,
  { withImpact, out, onNote }: PlanRequest,
): Promise<PlanResult> {
  const followed = await readRememberedRepository(factory);
  if (followed) {
    onNote(
      printable(`${describeFollowing(factory, followed)}: this is what merging the work tree would change.`),
    );
  }
  const { source } = await factory.readState();
  const { found, explain } = await readMergedDefinitions(
    context.directory,
    findBase(followed, source),
    process.env,
  );
  const definitions = parseDefinitions(found);
  const planned = await planFactory(factory, definitions);
  const { ok, state, changes, diagnostics } = planned;
  if (ok && out !== undefined) await writePlanFile(out, makePlanFile(factory.name, definitions, planned));
  if (withImpact)
    return { ok, ...explain(await showPlanned(context, factory, definitions, planned, onNote)) };
  const { texts } = definitions;
  return { ok, ...explain({ plan: planView(state, changes, context.baseUrl), diagnostics, texts }) };
}

/** Shows a plan with its impact, and with warnings about filters that were judged by what was sent. */
async function showPlanned(
  context: Context,
  factory: OpenFactory,
  definitions: Definitions,
  { state, changes, diagnostics, desired }: Planned,
  onNote: (note: string) => void,
) {
  const { texts, locate } = definitions;
  const viewed = { changes, before: state, after: desired, shown: state, locate };
  const { plan, warnings } = await viewPlan(context, factory, viewed, onNote);
  return { plan, diagnostics: addDiagnostics(diagnostics, warnings), texts };
}

interface ViewedChanges {
  readonly changes: readonly Change[];
  readonly before: AppliedState;
  readonly after: Pick<Definitions, 'webhooks' | 'automations'>;
  /** The state that has the UIDs to show: after an apply, the UIDs of new webhooks too. */
  readonly shown: AppliedState;
  /** Finds places for warnings about filters. Without it, filters are not judged by what was sent. */
  readonly locate?: Definitions['locate'];
}

/** Shows changes with their impact. If the delivery log cannot be read, shows only the changes. */
async function viewPlan(
  { baseUrl }: Context,
  factory: OpenFactory,
  { changes, before, after, shown, locate }: ViewedChanges,
  onNote: (note: string) => void,
): Promise<{ readonly plan: PlanView; readonly warnings: readonly Diagnostic[] }> {
  const { impacts, warnings, problem } = await readImpacts(factory, changes, before, after, locate);
  if (problem !== undefined) onNote(`The plan does not show its impact: ${problem}.`);
  return { plan: planView(shown, changes, baseUrl, impacts), warnings };
}

async function applyDirectory(
  context: Context,
  factory: OpenFactory,
  options: ApplyRequest,
): Promise<ApplyResult> {
  const { planFile, dryRun, adopt, newUids, confirm, onNote } = options;
  const followed = adopt ? undefined : await readRememberedRepository(factory);
  if (followed) return applyBranch(context, factory, followed, options);
  const reviewed = planFile === undefined ? undefined : await readPlanFile(planFile);
  const { directory } = context;
  const definitions = parseDefinitions(readDirectory(directory));
  const { texts } = definitions;
  const requireCurrent = (planned: Planned) => {
    const moved = reviewed
      ? findOutdatedParts(reviewed, makePlanFile(factory.name, definitions, planned))
      : [];
    if (moved.length > 0) throw refuseOutdated(moved);
  };
  if (dryRun) {
    const planned = await planFactory(factory, definitions, { adopt, newUids });
    if (!planned.ok) return { result: 'invalid', diagnostics: planned.diagnostics, texts };
    requireCurrent(planned);
    const shown = await showPlanned(context, factory, definitions, planned, onNote);
    return { result: 'dry-run', webhooks: [], ...shown };
  }
  const applied = await applyDefinitions(
    factory,
    definitions,
    { kind: 'directory', directory },
    async planned => {
      requireSameDirectory(context, planned.state);
      requireCurrent(planned);
      if (reviewed !== undefined || findUnconfirmed(planned.changes).length === 0) return true;
      const { state, changes, desired } = planned;
      const viewed = { changes, before: state, after: desired, shown: state };
      return confirm(async () => (await viewPlan(context, factory, viewed, onNote)).plan);
    },
    { adopt, newUids, actor: findOwnActor('apply') },
  );
  const { result, diagnostics } = applied;
  if (result === 'invalid' || result === 'declined') return { result, diagnostics, texts };
  if (adopt) await (await import('../../operations/branch/reconcile.ts')).forgetFollowed(factory);
  const { changes, before, state } = applied;
  const viewed = { changes, before, after: state, shown: state };
  const { plan } = await viewPlan(context, factory, viewed, onNote);
  return { result, plan, webhooks: listUrls(state, context), diagnostics, texts };
}

/** Refuses to replace what another directory defined, if only `hookmill.yaml` names the factory. */
function requireSameDirectory(
  { directory, factory, isFactoryFromFile }: Context,
  { source }: AppliedState,
): void {
  if (!isFactoryFromFile || source?.kind !== 'directory' || source.directory === directory) return;
  throw new UsageError(
    `hookmill.yaml names the factory ${factory}, which was applied from ${source.directory}; if you mean it, add --factory ${factory}`,
  );
}

/** Applies the tip of the production branch that a factory follows. Refuses plans of the work tree. */
async function applyBranch(
  context: Context,
  factory: OpenFactory,
  followed: FollowedRepository,
  { planFile, dryRun, newUids, onNote }: ApplyRequest,
): Promise<ApplyResult> {
  const follows = describeFollowing(factory, followed);
  if (planFile !== undefined || dryRun) {
    const hint = 'run `hookmill plan` to compare the work tree with the applied state';
    throw new UsageError(`${follows}: a plan of the work tree cannot be applied; ${hint}`);
  }
  onNote(printable(`${follows}: the work tree is ignored.`));
  const { createStopSignal, requireApplied, runReconcile } = await import('../reconcile/run-reconcile.ts');
  const reconciled = await runReconcile(factory, toFollowedBranch(followed), createStopSignal(), {
    newUids,
  });
  const { result, tip, state, before, changes } = requireApplied(reconciled);
  const viewed = { changes, before, after: state, shown: state };
  const { plan } = await viewPlan(context, factory, viewed, onNote);
  // The reconcile has already printed its diagnostics.
  const findings = { diagnostics: [], texts: new Map() };
  return { result, tip, plan, webhooks: listUrls(state, context), ...findings };
}

function describeFollowing(factory: OpenFactory, { branch, repository }: FollowedRepository): string {
  return `the factory ${factory.name} follows ${branch} of ${repository}`;
}

function listUrls({ webhooks }: AppliedState, { baseUrl }: Context): { name: string; url: string }[] {
  return webhooks.map(webhook => ({ name: webhook.name, url: renderIngressUrl(baseUrl, webhook) }));
}

function refuseOutdated(moved: readonly string[]): CommandError {
  const next = 'Nothing was applied. Run `hookmill plan` again and have it reviewed.';
  return new CommandError(`The plan is out of date (${moved.join('; ')}). ${next}`);
}

/** Finds why the daemon of a home receives no deliveries and starts no runs; null if it does, or if a replica elsewhere does. */
function findDaemonProblem(
  health: DaemonHealth,
  { serial: applied, replicas }: Pick<AppliedStatus, 'serial' | 'replicas'>,
): Remediable | null {
  const { state, url, reason, serial } = health;
  if ((state === 'none' || state === 'no answer') && (replicas?.alive.length ?? 0) > 0) return null;
  const readLog = 'Read its log; `hookmill status` shows its state.';
  if (state === 'none')
    return { message: 'none has run with this home', remedy: 'Start one with `hookmill serve`.' };
  if (state === 'no answer')
    return { message: `none answers at ${url}`, remedy: 'Start it with `hookmill serve`.' };
  if (state === 'not ready')
    return { message: `it is not ready${reason === null ? '' : `: ${reason}`}`, remedy: readLog };
  if (reason !== null) return { message: reason, remedy: readLog };
  if (state === 'ready' && !isServed(health, applied))
    return { message: `it serves serial ${serial ?? 0}, but ${applied} is applied`, remedy: readLog };
  return null;
}

/** Writes a plan with mode 0600: it contains no secret, but says how webhooks authenticate. */
async function writePlanFile(path: string, plan: PlanFile): Promise<void> {
  const text = `${JSON.stringify(plan, null, 2)}\n`;
  await replaceFile(resolve(path), text).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`the plan ${path} cannot be written (${cause.code})`, { cause });
  });
}

/** Reads a plan. Fails with a StoreError if the file is not a plan of this version of hookmill. */
async function readPlanFile(path: string): Promise<PlanFile> {
  return parseJsonFile(path, (await readInputFile(path, 'the plan')).toString('utf8'), planFileShape);
}
