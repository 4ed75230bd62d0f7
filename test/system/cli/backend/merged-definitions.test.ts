import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  followedFactory,
  makeUpstream,
  operatorEnvironment,
  repositoryAt,
  secret,
  temporaryDirectory,
  webhook,
} from '../../../support/git-samples.ts';
import { gitIn, namesOf, planMerge } from '../../../support/merge-plans.ts';

const secrets = Object.fromEntries(['S', 'T', 'U', 'V'].map(name => [name, secret]));

/**
 * A factory that follows main, and a clone whose branch `feature` adds the webhook own. The newest commit of main, which
 * adds the webhook pay, is applied; the clone lacks it until it fetches.
 */
async function behind(more: Readonly<Record<string, string>> = {}) {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/crm.yaml': webhook('T'), ...more });
  const clone = temporaryDirectory();
  const git = gitIn(clone);
  git('clone', '--quiet', upstream.bare, '.');
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    writeFileSync(join(clone, file), content);
  };
  const commit = (message: string) => {
    git('add', '--all');
    git('commit', '--quiet', `--message=${message}`);
  };
  git('switch', '--quiet', '--create', 'feature');
  write('webhooks/own.yaml', webhook('U'));
  commit('Add own');
  const applied = upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare, secrets);
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  const plan = async (directory = clone, environment = operatorEnvironment) => {
    const { ok, plan, diagnostics } = await planMerge(factory, directory, environment);
    const [create, update, destroy] = (['create', 'update', 'delete'] as const).map(action =>
      namesOf(plan.changes, action),
    );
    const found = diagnostics.map(({ code, file, message }) => `${file}: ${code}: ${message}`);
    return { ok, create, update, destroy, diagnostics: found, mergedWith: plan.mergedWith };
  };
  return { upstream, clone, git, write, commit, applied, plan, reconcile };
}

const onlyOwn = { ok: true, create: ['webhook own'], update: [], destroy: [], diagnostics: [] };

test('a branch that is behind destroys nothing that main has added since', async () => {
  const { git, plan, applied, upstream } = await behind();
  git('fetch', '--quiet');
  expect(await plan()).toEqual({ ...onlyOwn, mergedWith: applied });
  // The tip may be newer than what is applied.
  const tip = upstream.commit({ 'webhooks/new.yaml': webhook('V') });
  git('fetch', '--quiet');
  const create = ['webhook new', 'webhook own'];
  expect(await plan()).toEqual({ ...onlyOwn, create, mergedWith: tip });
  git('merge', '--quiet', 'origin/main');
  expect(await plan()).toEqual({ ...onlyOwn, create });
});

test('what is staged, not staged, untracked or removed counts as committed', async () => {
  const { clone, git, write, plan } = await behind({ 'webhooks/gone.yaml': webhook('V') });
  git('fetch', '--quiet');
  write('webhooks/staged.yaml', webhook('S', 'enabled: false\n'));
  git('add', '.');
  write('webhooks/crm.yaml', webhook('T', 'enabled: false\n'));
  write('webhooks/untracked.yaml', webhook('U', 'enabled: false\n'));
  rmSync(join(clone, 'webhooks/gone.yaml'));
  expect(await plan()).toMatchObject({
    create: ['webhook own', 'webhook staged', 'webhook untracked'],
    update: ['webhook crm'],
    destroy: ['webhook gone'],
  });
});

test('a conflict is an error with the file, and the plan keeps what is applied', async () => {
  const { git, write, commit, plan, upstream, reconcile } = await behind();
  upstream.commit({ 'webhooks/crm.yaml': webhook('T', 'enabled: false\n') });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  write('webhooks/crm.yaml', webhook('V'));
  commit('Change crm');
  git('fetch', '--quiet');
  expect(await plan()).toMatchObject({
    ...{ ok: false, create: ['webhook own'], update: [], destroy: [] },
    diagnostics: ['webhooks/crm.yaml: factory/conflict: the file conflicts with main'],
  });
  // Files outside of the definitions directory are for the git host.
  git('checkout', '--quiet', 'HEAD~1', '--', 'webhooks/crm.yaml');
  write('README.md', 'Ours\n');
  commit('Undo');
  upstream.commit({ 'README.md': 'Theirs\n' });
  git('fetch', '--quiet');
  expect(await plan()).toMatchObject({ ok: false, diagnostics: [expect.stringContaining('README.md')] });
});

describe('without the tip', () => {
  const lacks = (applied: string) =>
    `factory default: factory/behind: this clone lacks the applied revision ${applied.slice(0, 7)} of main, so the plan is only of the work tree: it also undoes what main has and this branch does not`;

  test('the plan says so, and that this branch does not make the destroys', async () => {
    const { plan, applied, clone, write, commit } = await behind();
    expect(await plan()).toEqual({
      ...{ ...onlyOwn, destroy: ['webhook pay'] },
      diagnostics: [
        lacks(applied),
        'webhooks/pay.yaml: factory/behind: the webhook pay is not destroyed by this branch: the merge base does not have it',
      ],
    });
    rmSync(join(clone, 'webhooks/crm.yaml'));
    // This branch had it once, although main had not when the two parted.
    write('webhooks/pay.yaml', webhook());
    commit('Add pay');
    rmSync(join(clone, 'webhooks/pay.yaml'));
    commit('Remove pay');
    const { destroy, diagnostics } = await plan();
    expect(destroy).toEqual(['webhook crm', 'webhook pay']);
    expect(diagnostics.filter(one => one.includes('not destroyed by'))).toEqual([]);
  });

  test('a shallow clone does not guess, unless it has the merge itself', async () => {
    const { upstream, plan, git, applied } = await behind();
    git('push', '--quiet', 'origin', 'feature');
    const shallow = temporaryDirectory();
    const clone = (branch: string) => {
      rmSync(shallow, { recursive: true });
      git('clone', '--quiet', '--depth=1', `--branch=${branch}`, `file://${upstream.bare}`, shallow);
    };
    clone('feature');
    expect(await plan(shallow)).toEqual({
      ...{ ...onlyOwn, destroy: ['webhook pay'] },
      diagnostics: [lacks(applied)],
    });
    gitIn(shallow)('fetch', '--quiet', '--depth=1', 'origin', '+main:refs/remotes/origin/main');
    const { diagnostics } = await plan(shallow);
    expect(diagnostics[0]).toContain('this clone lacks the merge base with main');
    git('fetch', '--quiet');
    git('merge', '--quiet', 'origin/main');
    git('push', '--quiet', 'origin', 'feature');
    clone('feature');
    expect(await plan(shallow)).toEqual(onlyOwn);
  });
});

test('a repository in a definitions folder is a submodule of the merge, as for git add', async () => {
  const { clone, git, plan } = await behind();
  git('fetch', '--quiet');
  const nested = join(clone, 'webhooks/nested');
  mkdirSync(nested);
  const inNested = gitIn(nested);
  inNested('init', '--quiet');
  inNested('commit', '--quiet', '--allow-empty', '--message=One');
  expect(await plan()).toMatchObject({
    ok: false,
    diagnostics: [expect.stringMatching('webhooks/nested: definition/not-regular-file')],
  });
});

test('a directory that the factory does not follow gets the plan of the one that it follows', async () => {
  const { clone, git, plan, write } = await behind();
  git('fetch', '--quiet');
  write('other/webhooks/else.yaml', webhook('V'));
  expect(await plan(join(clone, 'other'))).toMatchObject({
    ...onlyOwn,
    diagnostics: [expect.stringMatching('the factory follows the root of the repository, so the plan is of')],
  });
});

test('line ends that git converts in the work tree are no conflict', async () => {
  const { git, plan, write, upstream } = await behind({
    'webhooks/two.yaml': `${webhook('V')}# a\n# b\n# c\n`,
  });
  git('config', 'core.autocrlf', 'true');
  upstream.commit({ 'webhooks/two.yaml': `${webhook('V')}# a\n# b\n# c\n# d\n` });
  git('fetch', '--quiet');
  write('webhooks/two.yaml', `# 0\n${webhook('V')}# a\n# b\n# c\n`.replaceAll('\n', '\r\n'));
  expect(await plan()).toMatchObject({ ok: true, create: ['webhook own'], destroy: [] });
});

test('an old git plans the work tree, and says so', async () => {
  const { git, plan } = await behind();
  git('fetch', '--quiet');
  const bin = temporaryDirectory();
  const script = '#!/bin/sh\ncase "$*" in *merge-tree*) echo usage: git merge-tree >&2; exit 129;; esac\n';
  writeFileSync(join(bin, 'git'), `${script}PATH=\${PATH#*:} exec git "$@"\n`, { mode: 0o755 });
  const { destroy, diagnostics } = await plan(undefined, {
    ...operatorEnvironment,
    PATH: `${bin}:${process.env.PATH}`,
  });
  expect(destroy).toEqual(['webhook pay']);
  expect(diagnostics).toEqual([
    'factory default: factory/behind: git cannot merge this work tree into main (usage: git merge-tree), so the plan is only of the work tree',
  ]);
});

test('only a branch with commits beside the applied one would be refused by a push of its own', async () => {
  const { git, write, commit, plan, applied } = await behind();
  git('switch', '--quiet', 'main');
  git('fetch', '--quiet');
  const nothing = { ...onlyOwn, create: [] };
  expect(await plan()).toEqual({ ...nothing, mergedWith: applied });
  write('webhooks/own.yaml', webhook('U'));
  commit('Add own beside it');
  const { ok, create, diagnostics } = await plan();
  expect({ ok, create }).toEqual({ ok: true, create: ['webhook own'] });
  expect(diagnostics).toEqual([
    expect.stringContaining('factory/rewound: a push of this work tree is refused'),
  ]);
  git('reset', '--quiet', '--hard', 'origin/main');
  expect(await plan()).toEqual(nothing);
});

describe('the merge has what git has', () => {
  test('files that a sparse checkout left out', async () => {
    const { clone, git, plan, applied } = await behind({ 'docs/a.md': 'A\n' });
    git('fetch', '--quiet');
    git('sparse-checkout', 'set', 'docs');
    expect(readdirSync(clone)).not.toContain('webhooks');
    expect(await plan()).toEqual({ ...onlyOwn, mergedWith: applied });
    git('sparse-checkout', 'set', '--cone', '--sparse-index', 'docs');
    expect(await plan()).toEqual({ ...onlyOwn, mergedWith: applied });
  });

  test('no files that git ignores, for which there is a warning', async () => {
    const { clone, git, write, plan } = await behind();
    git('fetch', '--quiet');
    mkdirSync(join(clone, '.git/info'), { recursive: true });
    writeFileSync(join(clone, '.git/info/exclude'), 'try.yaml\n');
    write('.gitignore', '*.local.yaml\n*.swp\n');
    for (const name of ['a.local.yaml', 'try.yaml', 'try.yaml.swp']) write(`webhooks/${name}`, webhook('V'));
    const { create, diagnostics } = await plan();
    expect(create).toEqual(['webhook own']);
    const warning = 'definition/git-ignored: git ignores this file, so the merge will not contain it';
    expect(diagnostics).toEqual([`webhooks/a.local.yaml: ${warning}`, `webhooks/try.yaml: ${warning}`]);
  });

  test('no changes that git was told not to see, for which there is a warning', async () => {
    const { git, write, commit, plan } = await behind();
    for (const name of ['skipped', 'assumed', 'same']) write(`webhooks/${name}.yaml`, webhook('V'));
    commit('Add more');
    git('update-index', '--skip-worktree', 'webhooks/skipped.yaml', 'webhooks/same.yaml');
    git('update-index', '--assume-unchanged', 'webhooks/assumed.yaml');
    for (const name of ['skipped', 'assumed']) write(`webhooks/${name}.yaml`, 'secretName: [');
    const { ok, diagnostics } = await plan();
    const warning =
      'definition/git-ignored: git ignores the changes of this file, so the merge will contain it as it was committed';
    expect({ ok, diagnostics: diagnostics.filter(one => one.includes('git ignores')) }).toEqual({
      ok: true,
      diagnostics: [`webhooks/assumed.yaml: ${warning}`, `webhooks/skipped.yaml: ${warning}`],
    });
    // What the hint says.
    for (const flag of ['--no-skip-worktree', '--no-assume-unchanged'])
      git('update-index', flag, 'webhooks/assumed.yaml', 'webhooks/skipped.yaml');
    const seen = await plan();
    expect(seen.ok).toBe(false);
    expect(seen.diagnostics.filter(one => one.includes('git ignores'))).toEqual([]);
  });

  test('a folder that became a file or a link, as such', async () => {
    const { clone, git, plan, write } = await behind();
    git('fetch', '--quiet');
    rmSync(join(clone, 'webhooks'), { recursive: true });
    write('webhooks', 'A file\n');
    expect((await plan()).diagnostics).toEqual(['webhooks: factory/conflict: the file conflicts with main']);
    git('reset', '--quiet', '--hard', 'origin/main');
    const irregular = expect.stringContaining('webhooks must be a folder');
    rmSync(join(clone, 'webhooks'), { recursive: true });
    write('webhooks', 'A file\n');
    expect((await plan()).diagnostics).toContainEqual(irregular);
    rmSync(join(clone, 'webhooks'));
    write('elsewhere/own.yaml', webhook('U'));
    symlinkSync('elsewhere', join(clone, 'webhooks'));
    expect((await plan()).diagnostics).toContainEqual(irregular);
  });

  test('in a further work tree, with a split index', async () => {
    const { git, plan, applied } = await behind();
    git('fetch', '--quiet');
    const other = join(temporaryDirectory(), 'other');
    git('worktree', 'add', '--quiet', '-b', 'second', other, 'feature');
    gitIn(other)('update-index', '--split-index');
    writeFileSync(join(other, 'webhooks/more.yaml'), webhook('V'));
    gitIn(other)('add', '.');
    expect(await plan(other)).toEqual({
      ...{ ...onlyOwn, create: ['webhook more', 'webhook own'] },
      mergedWith: applied,
    });
  });
});

test('nothing of the repository runs, and nothing is written to it', async () => {
  const { clone, git, write, plan, applied } = await behind({
    '.gitattributes': '*.yaml filter=evil diff=evil merge=evil\n',
  });
  git('fetch', '--quiet');
  const evil = join(clone, '.git/evil');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${join(clone, '.git/ran')}\ncat\n`, { mode: 0o755 });
  for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout', 'pre-commit']) {
    const file = join(clone, '.git/hooks', hook);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, readFileSync(evil));
    chmodSync(file, 0o755);
  }
  write('webhooks/own.yaml', webhook('U', '# Edited\n'));
  write('webhooks/more.yaml', webhook('V'));
  const settings = {
    'filter.evil.clean': evil,
    'filter.evil.process': evil,
    'filter.evil.smudge': evil,
    'filter.evil.required': 'true',
    'merge.evil.driver': evil,
    'diff.evil.command': evil,
    'diff.external': evil,
    'core.fsmonitor': evil,
    'core.pager': evil,
    'core.editor': evil,
  };
  for (const [key, value] of Object.entries(settings)) git('config', key, value);
  const list = () =>
    readdirSync(join(clone, '.git'), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => [
        join(parentPath, name),
        readFileSync(join(parentPath, name), 'base64'),
      ]);
  const before = list();
  expect(await plan()).toEqual({
    ...{ ...onlyOwn, create: ['webhook more', 'webhook own'] },
    mergedWith: applied,
  });
  expect(list()).toEqual(before);
});

test('definitions in a folder keep their names, and its prompts are merged too', async () => {
  const trigger = 'triggers: [{ provider: webhook, event: received, filter: { webhook: inner } }]\n';
  const { git, write, clone, plan, upstream, reconcile } = await behind({
    'deploy/[a]/webhooks/inner.yaml': webhook('V'),
    'deploy/[a]/prompts/p.md': 'Look.\n',
  });
  upstream.commit({ 'deploy/[a]/prompts/p.md': 'Look twice.\n' });
  git('fetch', '--quiet');
  write('deploy/[a]/automations/try.yaml', `promptFile: prompts/p.md\n${trigger}`);
  write('deploy/[a]/webhooks/bad.yaml', 'authMode: tokn\n');
  const repository = repositoryAt(upstream.bare, 'main', 'deploy/[a]');
  await reconcile({ allowRename: true }, { repository });
  const { create, diagnostics } = await plan(join(clone, 'deploy/[a]'));
  expect(create).toContain('automation try');
  expect(diagnostics).toContainEqual(expect.stringContaining('webhooks/bad.yaml: definition/value'));
});
