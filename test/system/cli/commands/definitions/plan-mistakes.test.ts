import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openFactory, startManagedDaemon } from '../../../../support/management.ts';
import { makeWorkspace, type RunResult, type Workspace } from '../../../../support/workspace.ts';

// An error in one file hides neither the plan of the others, nor lets it destroy what the file defines.

type Plan = (...words: string[]) => Promise<RunResult>;

/** Three webhooks and an automation that listens to the webhook b, all of them applied. */
async function appliedWorkspace(onServer: boolean): Promise<{ workspace: Workspace; plan: Plan }> {
  const workspace = makeWorkspace();
  const env = onServer ? (await openFactory(await startManagedDaemon())).env : { home: {}, server: {} };
  const hookmill = (...words: string[]) => workspace.hookmill(...words, { env: env.server });
  for (const name of ['A', 'B', 'C']) {
    await workspace.hookmill('secrets', 'generate', name, { env: env.home });
    workspace.write(`webhooks/${name.toLowerCase()}.yaml`, `secretName: ${name}\n`);
  }
  await hookmill('apply');
  const { uid } = JSON.parse((await hookmill('webhooks', 'show', 'b', '-o', 'json')).stdout);
  const filter = `filter: { webhook_ids: [${uid}] }`;
  const trigger = `- provider: webhook\n    event: received\n    ${filter}`;
  workspace.write('automations/look.yaml', `prompt: Look.\ntriggers:\n  ${trigger}\n`);
  expect(await hookmill('apply')).toMatchObject({ exitCode: 0 });
  return { workspace, plan: hookmill };
}

test('an error in one file still shows the plan of the others, also of a server', async () => {
  const { workspace, plan } = await appliedWorkspace(true);
  workspace.write('webhooks/a.yaml', 'secretName: A\nenabled: false\n');
  workspace.write('webhooks/b.yaml', 'authMode: tokn\nsecretName: B\n');
  workspace.remove('webhooks/c.yaml');
  workspace.write('webhooks/d.yaml', 'secretName: NONE\n');
  const text = await plan('plan', '--detailed-exitcode');
  expect(text.exitCode).toBe(1);
  expect(text.stdout).toMatch(/^~ webhook a\n/);
  expect(text.stdout).toContain('- webhook c');
  expect(text.stdout).not.toMatch(/webhook [bd]/);
  expect(text.stdout).toMatch(
    /\nPlan of the definitions without errors: 0 to add, 1 to change, 1 to destroy\.\n$/,
  );
  expect(text.stderr).toContain('webhooks/b.yaml:1:11: error: authMode cannot be "tokn"');
  expect(text.stderr).toContain('webhooks/d.yaml:1:13: error: there is no team secret NONE');
  // The automation listens to b, which only nobody can read.
  expect(text.stderr).not.toContain('automation/webhook-unknown');

  const json = await plan('plan', '-o', 'json');
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    changes: [
      { name: 'a', action: 'update', impact: { effects: ['disabled'] } },
      { name: 'c', action: 'delete' },
      { name: 'look', action: 'no-op' },
    ],
    summary: { add: 0, change: 1, destroy: 1 },
    diagnostics: [{ file: 'webhooks/b.yaml' }, { file: 'webhooks/d.yaml' }],
  });

  const comment = await plan('plan', '-o', 'markdown');
  expect(comment.exitCode).toBe(1);
  expect(comment.stdout).toContain('### hookmill plan: the definitions cannot be applied\n');
  expect(comment.stdout).toContain('**2 URLs stop answering.**');
  expect(comment.stdout).toMatch(/#### Errors\n\n- .*\n- .*\n\n\| Action/);
  expect(comment.stdout).toContain('| **Destroy** | webhook <code>c</code> |');

  const applied = await plan('apply', '--yes');
  expect(applied).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing was applied') });
  const webhooks = JSON.parse((await plan('webhooks', 'list', '-o', 'json')).stdout);
  expect(webhooks).toMatchObject([{ name: 'a', enabled: true }, { name: 'b' }, { name: 'c' }]);
});

test('a file that cannot be read is not destroyed', async () => {
  const { workspace, plan } = await appliedWorkspace(false);
  workspace.remove('webhooks/b.yaml');
  symlinkSync('a.yaml', workspace.path('webhooks/b.yaml'));
  const { exitCode, stdout, stderr } = await plan('plan');
  expect({ exitCode, stdout }).toEqual({
    exitCode: 1,
    stdout: 'No changes by the definitions without errors.\n',
  });
  expect(stderr).toContain('webhooks/b.yaml: error: a definition must be a regular file');
  expect(stderr).not.toContain('automation/webhook-unknown');
});

test('a file whose name is invalid may be any that is missing, so none of them is destroyed', async () => {
  const { workspace, plan } = await appliedWorkspace(false);
  workspace.write('webhooks/B.yaml', workspace.read('webhooks/b.yaml'));
  workspace.remove('webhooks/b.yaml');
  workspace.write('webhooks/a.yaml', 'secretName: A\nenabled: false\n');
  const { exitCode, stdout } = await plan('plan');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^~ webhook a\n/);
  expect(stdout).toContain('Plan of the definitions without errors: 0 to add, 1 to change, 0 to destroy.');
});

test('a plan with errors is not written to a file', async () => {
  const { workspace, plan } = await appliedWorkspace(false);
  workspace.write('webhooks/b.yaml', 'authMode: tokn\nsecretName: B\n');
  expect(await plan('plan', '--out', 'reviewed.plan')).toMatchObject({ exitCode: 1 });
  expect(() => workspace.read('reviewed.plan')).toThrow('ENOENT');
});

test('says nothing of stored deliveries that a destroyed automation never had', async () => {
  const { workspace, plan } = await appliedWorkspace(false);
  workspace.remove('automations/look.yaml');
  expect((await plan('plan')).stdout).toMatch(/^- automation look\n\nPlan: /);
  expect((await plan('plan', '-o', 'markdown')).stdout).toContain(
    '| **Destroy** | automation <code>look</code> | it is destroyed |  |  |\n',
  );
});

test('no output repeats a credential that was pasted into a definition', async () => {
  const { workspace, plan } = await appliedWorkspace(false);
  const pasted = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  workspace.write('webhooks/a.yaml', `secretName: ${pasted}\npassword: hunter2\n`);
  workspace.write('webhooks/b.yaml', `authMode: ${pasted}\nsecretName: [${pasted}]\n`);
  const commands = [
    ...['text', 'json', 'github', 'sarif', 'gitlab', 'junit'].map(format => ['validate', '--format', format]),
    ...['text', 'json', 'markdown'].map(format => ['plan', '-o', format]),
    ['apply', '--yes'],
  ];
  for (const words of commands) {
    const { stdout, stderr, exitCode } = await plan(...words);
    expect(stdout + stderr).toContain('secret/pasted');
    expect(stdout + stderr).not.toMatch(/MfKQ9r8GKYq|hunter2/);
    expect(exitCode).toBe(1);
  }
});
