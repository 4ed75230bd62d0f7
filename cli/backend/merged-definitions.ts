import type { AppliedStatus } from '../../operations/attention/status.ts';
import type { PlanView } from '../../operations/views/plan-view.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import { addDiagnostics, type Diagnostic, truncate } from '../../schema/diagnostics.ts';
import { type DefinitionFiles, getDefinitionPath } from '../../sources/definitions.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { findGitRoot } from '../../sources/open-folder.ts';
import type { FollowedRepository } from '../../sources/repository/followed-repository.ts';
import { GitFailure } from '../../sources/repository/git/git-command.ts';
import { readParents } from '../../sources/repository/git/git-objects.ts';
import {
  commitWorkTree,
  findMergeBase,
  findTip,
  listChanged,
  listIgnored,
  listUnseen,
  mergeCommits,
  toOwnPath,
  useWorkTree,
  type WorkTree,
} from '../../sources/repository/git/work-tree.ts';
import { judgeMerge, type MergeFacts, type MergeVerdict } from '../../sources/repository/merge-verdict.ts';
import { readRevision } from '../../sources/repository/repository-source.ts';
import type { PlanResult } from './backend.ts';

interface Base {
  readonly branch: string;
  /** The path of the definitions in the repository; `''` for the root. */
  readonly path: string;
  /** The applied revision; undefined if nothing of the branch is applied. */
  readonly revision: string | undefined;
}

/** The branch that a factory follows, and what is applied of it; undefined if it follows none. */
export function findBase(
  followed: Pick<FollowedRepository, 'repository' | 'branch' | 'path'> | undefined,
  source: AppliedStatus['source'],
): Base | undefined {
  const applied = source?.kind === 'repository' ? source : undefined;
  const place = followed ?? applied;
  if (!place) return undefined;
  const { branch } = place;
  const isApplied = applied?.repository === place.repository && applied.branch === branch;
  const path = place.path === '.' ? '' : place.path;
  return { branch, path, revision: isApplied ? applied.revision : undefined };
}

/** The definitions as they are after the merge of a work tree into the branch that its factory follows. */
export interface MergedDefinitions {
  readonly found: DefinitionFiles;
  /** Adds to a plan of them what it was merged with, what it cannot know, and that a push would be refused. */
  readonly explain: <P extends Pick<PlanResult, 'plan' | 'diagnostics'>>(planned: P) => P;
}

/**
 * Reads the definitions that the branch of the applied revision would have after a merge of the work tree: of HEAD with
 * what is not committed yet. Outside of a work tree of git, reads the directory; where git cannot merge, it also warns.
 */
export async function readMergedDefinitions(
  directory: string,
  base: Base | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<MergedDefinitions> {
  if (!base || findGitRoot(directory) === undefined)
    return { found: readDirectory(directory), explain: planned => planned };
  try {
    return await useWorkTree(directory, base, environment, tree => readMerge(tree, base));
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const [reason = ''] = error.message.split('\n', 1);
    const message = `git cannot merge this work tree into ${base.branch} (${truncate(reason)}), so the plan is only of the work tree`;
    const hint = /lacks the blob/.test(reason)
      ? 'clone it without a filter, so that git has all files'
      : `merge ${base.branch} first; to plan the merge, git 2.38 or newer must be able to read this repository`;
    const found = readDirectory(directory);
    return { found, explain: makeExplain(plan => [describeFactory(plan, 'factory/behind', message, hint)]) };
  }
}

async function readMerge(
  tree: WorkTree,
  { revision: applied, branch, path }: Base,
): Promise<MergedDefinitions> {
  const { head, headRef } = tree;
  const [parents, ignored, own] = await Promise.all([
    readParents(tree.mirror, [head, ...(applied === undefined ? [] : [applied])]),
    listIgnored(tree),
    commitWorkTree(tree),
  ]);
  const unseen = await listUnseen(tree);
  const isKnown = applied === undefined || parents.has(applied);
  const tip = isKnown ? await findTip(tree, applied) : undefined;
  const base = tip && (await findMergeBase(tree, tip, head));
  const isBranch = headRef === `refs/heads/${branch}`;
  const isRewound =
    isBranch && applied !== undefined && (await findMergeBase(tree, applied, head)) !== applied;
  const verdict = judgeMerge({ applied, tip, head, parents: parents.get(head) ?? [], base, isRewound });
  const isMerged = tip !== undefined && (verdict === 'behind' || verdict === 'rewound');
  const { tree: merged, conflicts } = isMerged
    ? await mergeCommits(tree, tip, own)
    : { tree: own, conflicts: [] };
  const read = withoutConflicts(
    await readTree(tree, merged),
    // A file where the other side has a folder is named after its commit.
    new Set(conflicts.flatMap(name => toOwnPath(tree, name.replace(/~[0-9a-f]{40}$/, '')) ?? [])),
    branch,
  );
  const former = verdict === 'unknown' && !tip ? await listFormer(tree) : undefined;
  return {
    found: {
      ...read,
      diagnostics: [...read.diagnostics, ...describeIgnored(ignored), ...unseen.map(describeUnseen)],
    },
    explain: makeExplain(
      plan => [
        ...describeVerdict(plan, verdict, { applied, tip, branch }),
        ...(tree.prefix === path ? [] : [describeOtherPath(plan, tree.prefix, path)]),
        ...(former ? describeForeign(plan, former) : []),
      ],
      isMerged ? tip : undefined,
    ),
  };
}

function makeExplain(
  find: (plan: PlanView) => readonly Diagnostic[],
  tip?: string,
): MergedDefinitions['explain'] {
  return planned => {
    const { plan, diagnostics } = planned;
    const merged = tip === undefined ? plan : { ...plan, mergedWith: tip };
    return { ...planned, plan: merged, diagnostics: addDiagnostics(diagnostics, find(plan)) };
  };
}

/** Reads the definitions of a commit or tree, under the names that they have in the definitions directory. */
function readTree({ mirror }: WorkTree, revision: string): Promise<DefinitionFiles> {
  return readRevision(mirror, revision, mirror.repository.path, false, '');
}

/**
 * Lists the definition files that HEAD or a commit before it had, as far back as the merge base with the newest commit
 * of the branch that the repository has; undefined if there is none.
 */
async function listFormer(tree: WorkTree): Promise<ReadonlySet<string> | undefined> {
  const bases = await Promise.all(tree.branchTips.flat().map(older => findMergeBase(tree, older, tree.head)));
  const base = bases.find(found => found !== undefined);
  if (base === undefined) return undefined;
  const { files } = await readTree(tree, base);
  return new Set([...files.map(({ file }) => file), ...(await listChanged(tree, base))]);
}

/** Replaces files with conflicts by errors, so that the plan leaves out what they define. */
function withoutConflicts(
  { files, diagnostics, prompts = new Map(), ...others }: DefinitionFiles,
  conflicts: ReadonlySet<string>,
  branch: string,
): DefinitionFiles {
  const found = [...conflicts].map((file): Diagnostic => {
    const message = `the file conflicts with ${branch}`;
    return { code: 'factory/conflict', severity: 'error', message, file, hint: `merge ${branch} first` };
  });
  return {
    ...others,
    files: files.filter(({ file }) => !conflicts.has(file)),
    diagnostics: [...diagnostics.filter(({ file }) => !conflicts.has(file)), ...found],
    prompts: new Map([...prompts].map(([path, text]) => [path, conflicts.has(path) ? 'unreadable' : text])),
  };
}

/** Warns of definition files that git ignores: they exist here, and not after the merge. */
function describeIgnored(ignored: readonly string[]): Diagnostic[] {
  return ignored
    .filter(file => /\.ya?ml$/i.test(file))
    .map(file => ({
      code: 'definition/git-ignored',
      severity: 'warning',
      message: 'git ignores this file, so the merge will not contain it',
      file,
      hint: 'add it with `git add --force`, or move it to another folder',
    }));
}

/** Warns of a definition file whose changes git was told not to see. */
function describeUnseen(file: string): Diagnostic {
  const commands = ['--no-skip-worktree', '--no-assume-unchanged'].map(
    flag => `\`git update-index ${flag}\``,
  );
  return {
    code: 'definition/git-ignored',
    severity: 'warning',
    message: 'git ignores the changes of this file, so the merge will contain it as it was committed',
    file,
    hint: `let git see them, with ${commands.join(' and ')} for this file`,
  };
}

function describeVerdict(
  plan: PlanView,
  verdict: MergeVerdict,
  { applied, tip, branch }: Pick<MergeFacts, 'applied' | 'tip'> & { readonly branch: string },
): Diagnostic[] {
  const revision = applied === undefined ? '' : shortenRevision(applied);
  if (verdict === 'rewound') {
    const message = `a push of this work tree is refused: its commit does not descend from the applied revision ${revision}`;
    const hint = `pull ${branch} first; or, to rewrite its history, push it and run \`hookmill reconcile --once --allow-rewind\``;
    return [describeFactory(plan, 'factory/rewound', message, hint)];
  }
  if (verdict !== 'unknown') return [];
  const newest = applied === undefined ? branch : `the applied revision ${revision} of ${branch}`;
  const lacking = tip ? `the merge base with ${branch}` : newest;
  const message = `this clone lacks ${lacking}, so the plan is only of the work tree: it also undoes what ${branch} has and this branch does not`;
  const hint = `fetch ${branch}${tip ? ' with its history (`git fetch --unshallow`)' : ''}, then plan again`;
  return [describeFactory(plan, 'factory/behind', message, hint)];
}

/** Warns of a directory that is not the one that the factory follows. */
function describeOtherPath(plan: PlanView, prefix: string, path: string): Diagnostic {
  const [here, there] = [prefix, path].map(at => (at === '' ? 'the root of the repository' : at));
  const message = `the factory follows ${there}, so the plan is of ${there} and not of ${here}`;
  const hint = `plan that directory with -C, or name another factory with \`factory\` in hookmill.yaml`;
  return describeFactory(plan, 'factory/behind', message, hint);
}

/** Marks what a plan destroys although the checked out branch never had it: only the branch that is followed does. */
function describeForeign({ changes }: PlanView, former: ReadonlySet<string>): Diagnostic[] {
  return changes.flatMap(({ action, kind, name }): Diagnostic[] => {
    const file = getDefinitionPath(kind, name);
    if (action !== 'delete' || former.has(file)) return [];
    const message = `the ${kind} ${name} is not destroyed by this branch: the merge base does not have it`;
    return [{ code: 'factory/behind', severity: 'warning', message, file }];
  });
}

function describeFactory(
  { factory }: PlanView,
  code: 'factory/behind' | 'factory/rewound',
  message: string,
  hint: string,
): Diagnostic {
  const severity = code === 'factory/behind' ? 'warning' : 'error';
  return { code, severity, message, file: `factory ${factory}`, hint };
}
