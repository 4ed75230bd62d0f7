import type { AppliedState } from '../../schema/applied-state.ts';
import type { ConfirmationReason } from '../../schema/changes/plan-shapes.ts';
import { addDiagnostics, type Diagnostic } from '../../schema/diagnostics.ts';
import { Refusal } from '../../schema/refusal.ts';
import { type Definitions, definitionFolders, type Entry } from '../../sources/definitions.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { collectPrompts, listPromptPaths } from '../../sources/prompt-files.ts';
import { readEntries } from '../../sources/read-entries.ts';
import { findManagement } from '../applied-source.ts';
import type { OpenFactory } from '../factory.ts';
import { type ReadImpacts, readImpacts } from '../impact/read-impacts.ts';
import { findUnconfirmed } from '../plan/confirmations.ts';
import type { Change } from '../plan/plan.ts';
import type { Planned } from '../plan/plan-definitions.ts';
import { planFactory } from '../plan/plan-factory.ts';
import { type Applied, applyDefinitions } from './apply.ts';
import { requireSerial } from './change-factory.ts';

/** A file that another machine sent: any of a definitions folder, or a prompt that an automation names. */
export interface SentFile {
  readonly path: string;
  readonly content: string;
}

export interface SentPlan {
  /** Also finds what the changes mean for senders and runs. */
  readonly impact: boolean;
  /** Mistakes that only the sender can find. If there is such a list, files with errors are left out of the plan. */
  readonly findings?: readonly Diagnostic[] | undefined;
  /** The names of webhooks that get a new UID instead of their former one. */
  readonly newUids?: readonly string[] | undefined;
}

export interface SentApply extends Pick<SentPlan, 'newUids'> {
  /** The directory that the files come from, on the sender's machine. */
  readonly origin: string;
  /** The reasons for which changes need a confirmation and have it. */
  readonly confirm: readonly ConfirmationReason[];
  /** Replaces what was made in the dashboard. */
  readonly adopt: boolean;
  /** Also finds what the changes mean for senders and runs. */
  readonly impact: boolean;
  /** The serial that the sender planned against. */
  readonly ifSerial: number | undefined;
}

/**
 * Plans definitions that another machine sent, if wanted with the impact of each change. They contain no secret values.
 * Fails with `definitions-invalid` if they have errors and no findings were sent.
 */
export async function planSentDefinitions(
  factory: OpenFactory,
  files: readonly SentFile[],
  { impact, findings, newUids }: SentPlan,
): Promise<Planned & ReadImpacts> {
  const definitions = parseSentFiles(files, findings);
  const planned = await planFactory(factory, definitions, { newUids });
  if (!planned.ok && !findings) throw refuseInvalid(planned.diagnostics);
  const { state, changes, desired } = planned;
  if (!impact) return { ...planned, ...noImpacts };
  const read = await readImpacts(factory, changes, state, desired, definitions.locate);
  return { ...planned, ...read, diagnostics: addDiagnostics(planned.diagnostics, read.warnings) };
}

/**
 * Applies definitions that another machine sent, unless a repository defines the factory. Finds the impact of each
 * change afterwards, so that other changes of the factory need not wait for it. Fails with a Refusal.
 */
export async function applySentDefinitions(
  factory: OpenFactory,
  files: readonly SentFile[],
  { origin, confirm, adopt, newUids, impact, ifSerial }: SentApply,
): Promise<SentApplied & ReadImpacts> {
  if (findManagement(await factory.readState()) === 'repository') {
    const instead = { text: 'push to the production branch: it is applied from there' };
    throw new Refusal('managed-in-repository', { instead });
  }
  const definitions = parseSentFiles(files);
  const applied = await applyDefinitions(
    factory,
    definitions,
    { kind: 'directory', directory: origin },
    async ({ state, changes }) => {
      requireSerial(state, ifSerial);
      return findUnconfirmed(changes, confirm).length === 0;
    },
    { adopt, newUids },
  );
  const done = requireApplied(applied, confirm);
  const { changes, before, state } = done;
  return { ...done, ...(impact ? await readImpacts(factory, changes, before, state) : noImpacts) };
}

const noImpacts: ReadImpacts = { impacts: new Map(), warnings: [] };

interface SentApplied {
  readonly result: 'applied' | 'unchanged';
  readonly changes: readonly Change[];
  readonly diagnostics: readonly Diagnostic[];
  readonly state: AppliedState;
}

function parseSentFiles(files: readonly SentFile[], findings: readonly Diagnostic[] = []): Definitions {
  const entries = files.map(
    ({ path, content }): Entry => ({ path, kind: 'file', bytes: Buffer.from(content) }),
  );
  const sent = files.flatMap(({ path }) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : []));
  const folders = [...new Set([...Object.values(definitionFolders), ...sent])].map(
    (path): Entry => ({ path, kind: 'folder' }),
  );
  const found = readEntries([...folders, ...entries], { label: '' });
  const known = new Set(findings.map(({ code, file }) => `${code} ${file}`));
  const own = found.diagnostics.filter(({ code, file }) => !known.has(`${code} ${file}`));
  const prompts = collectPrompts(listPromptPaths(found.files), entries);
  return parseDefinitions({ ...found, prompts, diagnostics: [...own, ...findings] });
}

function requireApplied(applied: Applied, confirmed: readonly ConfirmationReason[]) {
  if (applied.result === 'invalid') throw refuseInvalid(applied.diagnostics);
  if (applied.result === 'declined') throw refuseUnconfirmed(findUnconfirmed(applied.changes, confirmed));
  return { ...applied, result: applied.result };
}

function refuseInvalid(diagnostics: readonly Diagnostic[]): Refusal {
  const code = 'factory/dashboard-managed';
  const isManagedHere = diagnostics.some(one => one.code === code && one.severity === 'error');
  return new Refusal(isManagedHere ? 'managed-in-dashboard' : 'definitions-invalid', { diagnostics });
}

function refuseUnconfirmed(changes: ReturnType<typeof findUnconfirmed<Change>>): Refusal {
  const reasons = [...new Set(changes.map(({ confirmation }) => confirmation.reason))];
  const why = changes.map(({ kind, name, confirmation }) => `${kind} ${name}: ${confirmation.message}`);
  const detail = `${why.join('; ')}; to confirm, send "confirm": ${JSON.stringify(reasons)}`;
  return new Refusal('changes-unconfirmed', { detail });
}
