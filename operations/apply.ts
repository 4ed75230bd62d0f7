import { createHash } from 'node:crypto';
import type { AppliedState, AppliedWebhook, Credential } from '../schema/applied-state.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../schema/diagnostics.ts';
import { createUid, uidRandomBytes } from '../schema/ids.ts';
import type { Definitions } from '../sources/definitions.ts';
import { changeAppliedState, readAppliedState } from '../store/embedded/applied-states.ts';
import type { Home } from '../store/embedded/files/home.ts';
import { openSecrets, secretNames, type TeamSecret } from '../store/embedded/team-secrets.ts';
import type { Seal, SealedFor } from '../store/sealing.ts';
import { appliedFrom, type DesiredSource, sealSource } from './applied-source.ts';
import { dashboardProblems } from './checks/dashboard-problems.ts';
import { secretProblems } from './checks/secret-problems.ts';
import { triggerProblems, withUidHints } from './checks/trigger-problems.ts';
import { type Change, isInForce, plan, summarize } from './plan.ts';

/** A factory and what it takes to change it. */
export interface Factory {
  readonly home: Home;
  readonly name: string;
  readonly seal: Seal;
  readonly lockTimeoutMs: number;
  readonly now: () => Date;
  readonly randomBytes: (count: number) => Uint8Array;
}

export type Planned =
  | {
      readonly ok: true;
      readonly changes: readonly Change[];
      readonly diagnostics: readonly Diagnostic[];
      readonly state: AppliedState;
      /** Of the team secrets that the webhooks name; null for one without a value. */
      readonly secretVersions: ReadonlyMap<string, string | null>;
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export type PlannedChanges = Extract<Planned, { ok: true }>;

export type Applied =
  | {
      readonly result: 'applied' | 'unchanged' | 'declined';
      readonly changes: readonly Change[];
      readonly diagnostics: readonly Diagnostic[];
      readonly state: AppliedState;
    }
  | { readonly result: 'invalid'; readonly diagnostics: readonly Diagnostic[] };

export interface ApplyOptions {
  /** Takes over a factory that was managed in the dashboard. */
  readonly adopt?: boolean | undefined;
}

/** What applying the definitions to the factory would do now; nothing is written. */
export async function planFactory(
  factory: Pick<Factory, 'home' | 'name' | 'seal'>,
  definitions: Definitions,
): Promise<Planned> {
  const state = await readAppliedState(factory.home, factory.name);
  const { planned } = await planAgainst(state, factory, definitions);
  return { ...planned, diagnostics: [...planned.diagnostics, ...dashboardProblems(state, 'warning')] };
}

/**
 * Makes the definitions the applied state, all or nothing, under the factory's lock. `confirm` sees the changes,
 * and the whole of the plan, before anything is written. Without a change the file is not touched, unless to note
 * the revision that it now comes from.
 */
export async function applyDefinitions(
  factory: Factory,
  definitions: Definitions,
  source: DesiredSource,
  confirm: (changes: readonly Change[], planned: PlannedChanges) => Promise<boolean>,
  { adopt = false }: ApplyOptions = {},
): Promise<Applied> {
  let applied: Applied | undefined;
  await changeAppliedState(factory.home, factory.name, factory.lockTimeoutMs, async state => {
    const refusals = adopt ? [] : dashboardProblems(state, 'error');
    if (refusals.length > 0) {
      applied = { result: 'invalid', diagnostics: refusals };
      return undefined;
    }
    const { planned, secrets } = await planAgainst(state, factory, definitions);
    if (!planned.ok) {
      applied = { result: 'invalid', diagnostics: planned.diagnostics };
      return undefined;
    }
    const { changes, diagnostics } = planned;
    if (!(await confirm(changes, planned))) {
      applied = { result: 'declined', changes, diagnostics, state };
      return undefined;
    }
    const { add, change, destroy } = summarize(changes);
    if (add + change + destroy === 0 && !isNewSource(state, source)) {
      applied = { result: 'unchanged', changes, diagnostics, state };
      return undefined;
    }
    const next = await nextState(factory, state, definitions, secrets, source);
    applied = { result: 'applied', changes, diagnostics, state: { ...next, serial: state.serial + 1 } };
    return next;
  });
  if (!applied) throw new Error('the applied state was changed without a result');
  return applied;
}

function isNewSource(state: AppliedState, source: DesiredSource): boolean {
  if (source.kind === 'repository') return appliedFrom(state, source)?.revision !== source.revision;
  return state.source !== null && state.source.kind !== source.kind;
}

async function planAgainst(
  state: AppliedState,
  { home, seal }: Pick<Factory, 'home' | 'seal'>,
  definitions: Definitions,
): Promise<{ planned: Planned; secrets: Map<string, TeamSecret> }> {
  const secrets = await openSecrets(
    home,
    seal,
    definitions.webhooks.map(webhook => webhook.secretName),
  );
  const knownNames = await secretNames(home);
  const diagnostics = sortDiagnostics([
    ...withUidHints(definitions, state),
    ...secretProblems(definitions, secrets, knownNames),
    ...triggerProblems(definitions, state),
  ]);
  if (hasErrors(diagnostics)) return { planned: { ok: false, diagnostics }, secrets };
  const changes = plan(definitions, state, secrets);
  const secretVersions = new Map([...secrets].map(([name, { value }]) => [name, value?.version ?? null]));
  return { planned: { ok: true, changes, diagnostics, state, secretVersions }, secrets };
}

async function nextState(
  factory: Factory,
  state: AppliedState,
  definitions: Definitions,
  secrets: ReadonlyMap<string, TeamSecret>,
  source: DesiredSource,
): Promise<AppliedState> {
  const webhooks = definitions.webhooks.map(async (webhook): Promise<AppliedWebhook> => {
    const existing = state.webhooks.find(other => other.name === webhook.name);
    const uid = existing?.uid ?? createUid(factory.randomBytes(uidRandomBytes));
    const credential = await credentialFor(factory, webhook, uid, secrets.get(webhook.secretName), existing);
    return { ...webhook, uid, credential };
  });
  const content = {
    webhooks: await Promise.all(webhooks),
    automations: definitions.automations.map(automation => ({
      ...automation,
      triggers: [...automation.triggers],
    })),
  };
  return {
    ...state,
    appliedAt: factory.now().toISOString(),
    source: sealSource(source, content),
    ...content,
  };
}

/** The credential in force of a webhook whose definition applies now: the existing one while it is still right. */
export async function credentialFor(
  { name, seal }: Factory,
  { authMode }: WebhookDefinition,
  uid: string,
  secret: TeamSecret | undefined,
  existing: AppliedWebhook | undefined,
): Promise<Credential> {
  if (existing && isInForce(existing.credential, authMode, secret)) return existing.credential;
  if (!secret?.value) return { kind: 'unset' };
  const { version: secretVersion, text } = secret.value;
  if (authMode === 'signature') {
    return { kind: 'sealed', secretVersion, jwe: await seal.seal(text, sealedCredential(name, uid)) };
  }
  return { kind: 'digest', secretVersion, sha256: createHash('sha256').update(text).digest('hex') };
}

/** What the credential of a signature webhook is sealed for. */
export function sealedCredential(factory: string, uid: string): SealedFor {
  return { use: 'credential', name: uid, factory };
}
