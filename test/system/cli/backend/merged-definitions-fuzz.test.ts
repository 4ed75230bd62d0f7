import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import {
  followedFactory,
  operatorEnvironment,
  repositoryAt,
  secret,
  temporaryDirectory,
} from '../../../support/git-samples.ts';
import { gitIn, namesOf, planMerge } from '../../../support/merge-plans.ts';
import { createRandom } from '../../../support/random.ts';

// Random histories of a production branch and a feature branch: what a plan on the feature branch says is what the
// reconcile does after a merge and a push. SEED=4711 runs one of them again.

const seedCount = inject('isLong') ? 500 : 6;
const seeds = process.env.SEED
  ? [Number(process.env.SEED)]
  : Array.from({ length: seedCount }, (_, i) => i + 1);

type Files = Map<string, string>;
/** Draws an integer below a number. */
type Random = (below: number) => number;

const home = mkdtempSync(join(tmpdir(), 'histories-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const secrets = Object.fromEntries(['S', 'T', 'U', 'V', 'W'].map(name => [name, secret]));

/** Makes one random change of one file. */
function change(files: Files, random: Random): void {
  const pick = <T>(among: readonly T[]): T => among[random(among.length)] as T;
  const name = () => pick(['ant', 'bee', 'cat', 'dog', 'elk', 'fox']);
  if (files.size === 0) files.set('docs/read.yaml', 'Read me.\n');
  const existing = pick([...files.keys()]);
  const kinds: Readonly<Record<string, () => string>> = {
    webhooks: () =>
      `authMode: token\nsecretName: ${pick(Object.keys(secrets))}\nenabled: ${pick(['true', 'false'])}\n`,
    automations: () =>
      `prompt: ${pick(['Look.', 'Act.'])}\nenabled: false\n${makeTrigger(pick(listWebhooks(files)))}`,
    docs: () => `${pick(['One', 'Two', 'Three'])}\n`,
  };
  const folder = pick(['webhooks', 'webhooks', 'automations', 'docs']);
  const path = `${folder}/${name()}.yaml`;
  const [folderBefore = ''] = existing.split('/');
  const acts = [
    () => files.set(path, kinds[folder]?.() ?? ''),
    () => files.delete(existing),
    () => files.set(existing, kinds[folderBefore]?.() ?? `${files.get(existing)}# More\n`),
    () => files.set(existing, `${files.get(existing)}# More\n`),
    () => {
      // A rename, perhaps with an edit; or a move out of the definitions, or back to them.
      const content = files.get(existing) ?? '';
      const to =
        random(3) > 0 ? folderBefore : content.startsWith('authMode') ? pick(['webhooks', 'old']) : 'old';
      const drawn = random(4) === 0 ? pick(['.disabled', '~', '/inner.yaml', '.txt']) : '';
      // Elsewhere, a plan sees no files with odd names before they are committed.
      const odd = to === 'webhooks' || to === 'automations' ? drawn : '';
      files.delete(existing);
      files.set(`${to}/${name()}.yaml${odd}`, random(3) === 0 ? `${content}# Edited\n` : content);
    },
  ];
  pick([...acts, ...acts.slice(0, 1)])();
}

function listWebhooks(files: Files): string[] {
  const names = [...files.keys()].flatMap(path => /^webhooks\/(.*)\.yaml$/.exec(path)?.[1] ?? []);
  return names.length > 0 ? names : ['ant'];
}

function makeTrigger(webhook: string): string {
  return `triggers:\n  - provider: webhook\n    event: received\n    filter: { webhook: ${webhook} }\n`;
}

interface History {
  /** The input of `git fast-import`. */
  readonly stream: string;
  /** Marks of the commits of both branches, oldest first. */
  readonly main: readonly number[];
  readonly feature: readonly number[];
  /** Whether the newest commit of the feature branch is its own, and no merge. */
  readonly endsWithChange: boolean;
}

function makeHistory(random: Random): History {
  const main: Files = new Map([
    ['webhooks/ant.yaml', 'authMode: token\nsecretName: S\n'],
    ['webhooks/bee.yaml', 'authMode: token\nsecretName: T\n'],
    ['docs/read.yaml', 'Read me.\n'],
  ]);
  const parts: string[] = [];
  let mark = 0;
  const commit = (branch: string, files: Files, from?: number, merged?: number): number => {
    mark += 1;
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    parts.push(
      `commit refs/heads/${branch}\nmark :${mark}\ncommitter Ada <ada@example.com> ${1_700_000_000 + mark} +0000\n`,
      data(`Commit ${mark}`),
      from === undefined ? '' : `from :${from}\n`,
      merged === undefined ? '' : `merge :${merged}\n`,
      'deleteall\n',
      ...[...files].map(([path, content]) => `M 100644 inline ${path}\n${data(content)}`),
    );
    return mark;
  };
  const mains = [commit('main', main)];
  const advance = () => {
    change(main, random);
    mains.push(commit('main', main, mains.at(-1)));
  };
  for (let count = random(3); count > 0; count--) advance();
  let [feature, base]: [Files, Files] = [new Map(main), new Map(main)];
  const features = [mains.at(-1) ?? 0];
  let endsWithChange = false;
  for (let count = 1 + random(8); count > 0; count--) {
    const merged = random(6) === 0 ? mergeSides(base, feature, main) : undefined;
    if (merged) {
      [feature, base] = [merged, new Map(main)];
      features.push(commit('feature', feature, features.at(-1), mains.at(-1)));
      endsWithChange = false;
    } else if (random(2) === 0) advance();
    else {
      change(feature, random);
      features.push(commit('feature', feature, features.at(-1)));
      endsWithChange = true;
    }
  }
  return { stream: parts.join(''), main: mains, feature: features, endsWithChange };
}

/** Merges files that changed on one side only; undefined if one changed on both. */
function mergeSides(base: Files, ours: Files, theirs: Files): Files | undefined {
  const merged: Files = new Map();
  for (const path of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [before, our, their] = [base.get(path), ours.get(path), theirs.get(path)];
    if (our !== before && their !== before && our !== their) return undefined;
    const content = our === before ? their : our;
    if (content !== undefined) merged.set(path, content);
  }
  return merged.size > 0 ? merged : undefined;
}

const factoryOfFile = followedFactory('/nowhere', secrets, home);

test.for(seeds)('history %i', async seed => {
  const { factory, reconcile } = await factoryOfFile;
  const draw = createRandom(seed);
  const random: Random = below => Math.floor(draw() * below);
  const history = makeHistory(random);
  const directory = temporaryDirectory();
  const git = gitIn(directory);
  git('init', '--quiet', '--initial-branch=none');
  const options = {
    cwd: directory,
    env: operatorEnvironment,
    input: history.stream,
    encoding: 'utf8' as const,
  };
  execFileSync('git', ['fast-import', '--quiet', '--export-marks=.git/marks'], options);
  const marks = readFileSync(join(directory, '.git/marks'), 'utf8').matchAll(/^:(\d+) (\w+)$/gm);
  const commits = new Map([...marks].map(([, mark, commit = '']) => [Number(mark), commit]));
  const mains = history.main.map(mark => commits.get(mark) ?? '');
  const tip = mains.at(-1) ?? '';
  const head = commits.get(history.feature.at(-1) ?? 0) ?? '';
  const repository = repositoryAt(directory);
  const anyway = { allowEmpty: true, allowRename: true, allowRewind: true };
  // Any commit of main may be the applied one, or was refused.
  git('update-ref', 'refs/heads/main', mains[random(mains.length)] ?? '');
  await reconcile(anyway, { repository });

  // The clone knows the tip from a remote or from its own branch, and the last changes may not be committed.
  git('update-ref', random(2) === 0 ? 'refs/heads/main' : 'refs/remotes/origin/main', tip);
  git('checkout', '--quiet', '--detach', head);
  if (history.endsWithChange && random(2) === 0) git('reset', '--quiet', 'HEAD~1');
  const { ok, plan, diagnostics } = await planMerge(factory, directory);

  git('checkout', '--quiet', '--force', '-B', 'main', tip);
  git('clean', '--quiet', '-fd');
  let conflicts: string[] = [];
  try {
    git('merge', '--quiet', '--no-edit', head);
  } catch {
    const names = git('diff', '--name-only', '--diff-filter=U').trim().split('\n');
    // A file where the other side has a folder is named after its commit.
    conflicts = names.map(name => name.replace(/~(?:HEAD|\w{40})$/, ''));
  }
  const found = diagnostics.filter(({ code }) => code === 'factory/conflict').map(({ file }) => file);
  expect(found, 'conflicts').toEqual(conflicts);
  if (conflicts.length > 0) return;
  const reconciled = await reconcile({}, { repository });
  const isApplied = reconciled.result !== 'failed';
  expect({ ok, diagnostics }).toMatchObject({ ok: isApplied });
  if (!isApplied) return;
  const done = reconciled.result === 'applied' ? reconciled.changes : [];
  for (const action of ['create', 'update', 'delete'] as const)
    expect(namesOf(plan.changes, action), action).toEqual(namesOf(done, action));
});
