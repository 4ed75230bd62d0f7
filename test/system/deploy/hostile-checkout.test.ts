import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createScaffold } from '../../../cli/scaffold/scaffold.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { jobEnvironment, root, runStep } from './action-steps.ts';
import { makeSmallTarball, packProject, type Tarball } from './package-tarball.ts';

/** Serves each tarball at its path, and remembers everything that was asked for. */
async function serveTarballs(tarballs: Readonly<Record<string, Tarball>>) {
  const asked: string[] = [];
  const url = await startLoopbackServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const tarball = tarballs[path];
    if (tarball) response.end(readFileSync(tarball.file));
    else response.writeHead(404).end();
  });
  return { url, asked };
}

/** What a pull request may bring along. Each file that runs creates the file `ran`. */
async function makeHostileCheckout(registry: string): Promise<Workspace> {
  const workspace = makeWorkspace();
  const ran = `require('node:fs').writeFileSync(${JSON.stringify(workspace.path('ran'))}, '');\n`;
  const program = `#!/usr/bin/env node\n${ran}`;
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const scripts = {
    preinstall: 'touch ran',
    install: 'touch ran',
    postinstall: 'touch ran',
    prepare: 'touch ran',
  };
  const manifest = { name: 'hookmill', version, bin: { hookmill: 'bin.js' }, main: 'bin.js', scripts };
  const programs = {
    'node_modules/hookmill/bin.js': program,
    'node_modules/.bin/hookmill': program,
    'node_modules/.bin/node': '#!/bin/sh\ntouch ran\n',
    'node_modules/zod/index.js': ran,
    'cli/bin.js': program,
    'dist/hookmill.js': ran,
    'hookmill/cli/bin.js': program,
    tar: '#!/bin/sh\ntouch ran\n',
    node: '#!/bin/sh\ntouch ran\n',
  };
  for (const [file, content] of Object.entries(programs)) {
    workspace.write(file, content);
    chmodSync(workspace.path(file), 0o755);
  }
  workspace.write('node_modules/hookmill/package.json', JSON.stringify(manifest));
  workspace.write('package.json', JSON.stringify({ ...manifest, dependencies: { hookmill: '*' } }));
  workspace.write(
    '.npmrc',
    `registry=${registry}\nnode-options=--require=./dist/hookmill.js\nscript-shell=./node\n`,
  );
  workspace.write('.env', 'NODE_OPTIONS=--require=./dist/hookmill.js\n');
  workspace.write('hookmill.yaml', `baseUrl: ${registry}\n`);
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  workspace.write('body.json', '{}');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace.directory });
  git('init', '-q');
  git('add', '-f', '.');
  return workspace;
}

test('CI runs nothing of a checkout that brings along a package, settings of npm, a base URL and a home', async () => {
  // The first job installs the real package; unpacking all of its files takes seconds of the processor.
  const tarballs = { '/packed.tgz': packProject(), '/linked.tgz': makeSmallTarball() };
  const { url, asked } = await serveTarballs(tarballs);
  const workspace = await makeHostileCheckout(`${url}/registry`);
  const [github, gitlab] = createScaffold({
    factory: 'default',
    directory: '.',
    ci: ['github', 'gitlab'],
  })
    .filter(({ path }) => /hookmill\.yml|gitlab-ci/.test(path))
    .map(({ content }) => parse(content));
  const template = parse(readFileSync(join(root, 'deploy/ci/gitlab/hookmill.gitlab-ci.yml'), 'utf8'));
  // The other steps need a server.
  const steps: { run?: string; if?: string }[] = github.jobs.hookmill.steps.filter(
    (step: { if?: string }) => step.if === undefined,
  );
  const jobs = [
    steps.map(({ run = '' }) => run),
    [...gitlab['.hookmill'].before_script, ...gitlab.hookmill.script],
    [...template['.hookmill'].before_script, ...template['hookmill-validate'].script],
  ];
  const env = (path: keyof typeof tarballs) => ({
    ...jobEnvironment(makeWorkspace().directory),
    RUNNER_TEMP: makeWorkspace().directory,
    ...{ DIRECTORY: '.', HOOKMILL_DIRECTORY: '.' },
    HOOKMILL_PACKAGE: url + path,
    HOOKMILL_INTEGRITY: tarballs[path].integrity,
  });
  for (const [index, lines] of jobs.entries()) {
    // A job of GitHub has a shell for each step, so its directory does not stay changed.
    const script = index === 0 ? lines.map(line => `(\n${line}\n:)`).join('\n') : lines.join('\n');
    const { exitCode, stderr } = await execa('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: workspace.directory,
      extendEnv: false,
      reject: false,
      env: env(index === 0 ? '/packed.tgz' : '/linked.tgz'),
    });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stderr).toContain('1 definition: 0 errors, 1 warning.');
  }

  const given = {
    package: `${url}/linked.tgz`,
    integrity: tarballs['/linked.tgz'].integrity,
    plan: 'true',
    home: '.hookmill',
  };
  const runner = { ...env('/linked.tgz'), GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: workspace.directory };
  for (const step of ['Install', 'Validate', 'Plan']) {
    const { exitCode, stdout } = await runStep(step, workspace.directory, given, runner);
    expect({ step, exitCode }).toEqual({ step, exitCode: step === 'Plan' ? 1 : 0 });
    if (step === 'Validate') expect(stdout).toContain('title=home/tracked::git tracks .hookmill/key');
  }
  expect(() => workspace.read('ran')).toThrow('ENOENT');
  expect(new Set(asked)).toEqual(new Set(Object.keys(tarballs)));
});
