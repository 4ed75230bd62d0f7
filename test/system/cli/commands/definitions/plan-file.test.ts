import { cpSync, rmSync, statSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const secret = 'correct-horse_battery.staple~1';
const applied = '.hookmill/applied/default.json';
const workspace: Workspace = makeWorkspace();
const prepared: Workspace = makeWorkspace();

/** The webhook old is applied; the plan destroys it and adds new. */
beforeAll(async () => {
  workspace.write('webhooks/old.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: secret });
  await workspace.hookmill('apply');
  rmSync(workspace.path('webhooks/old.yaml'));
  workspace.write('webhooks/new.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('plan', '--out', 'reviewed.plan');
  cpSync(workspace.directory, prepared.directory, { recursive: true });
});
beforeEach(() => {
  rmSync(workspace.directory, { recursive: true });
  cpSync(prepared.directory, workspace.directory, { recursive: true });
});

test('applies the plan, and destroys without asking again', async () => {
  const { exitCode, stdout } = await workspace.hookmill('apply', 'reviewed.plan', '-o', 'json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ serial: 2, summary: { add: 1, change: 0, destroy: 1 } });
});

test('only its owner can read the file, which says what changes and holds no secret', () => {
  expect(statSync(workspace.path('reviewed.plan')).mode & 0o777).toBe(0o600);
  const text = workspace.read('reviewed.plan');
  expect(text).not.toContain(secret);
  expect(JSON.parse(text).changes).toMatchObject([
    { action: 'create', name: 'new' },
    { action: 'delete', name: 'old' },
  ]);
});

describe('nothing is applied', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a definition changed',
      () => workspace.write('webhooks/new.yaml', 'secretName: TOKEN\nenabled: false\n'),
      'the webhook new changed',
    ],
    [
      'a definition came',
      () => workspace.write('webhooks/newer.yaml', 'secretName: TOKEN\n'),
      'the webhook newer was added',
    ],
    ['a definition went', () => rmSync(workspace.path('webhooks/new.yaml')), 'the webhook new was removed'],
    [
      'a team secret got a new value',
      () => workspace.hookmill('secrets', 'generate', 'TOKEN'),
      'the team secret TOKEN changed',
    ],
    [
      'another apply came first',
      () => workspace.hookmill('apply', '--yes'),
      'the applied state is at serial 2, the plan at 1',
    ],
    [
      'the applied state was edited under the same serial',
      () =>
        workspace.write(
          applied,
          workspace
            .read(applied)
            .replace('"sha256": "', '"sha256": "ffff')
            .replace(/("sha256": ".{64}).{4}/, '$1'),
        ),
      'the applied state was edited',
    ],
    [
      'the plan is another factory’s',
      () => editPlan(plan => Object.assign(plan, { factory: 'other' })),
      'the plan is for the factory other',
    ],
    ['the plan hides the destroy', () => editPlan(plan => plan.changes.pop()), 'the planned changes differ'],
    [
      'the plan names another field',
      () =>
        editPlan(plan =>
          Object.assign(plan.changes[0] ?? {}, {
            fields: [{ field: 'enabled', path: 'enabled', after: false }],
          }),
        ),
      'the planned changes differ',
    ],
  ])('when %s', async (_, move, message) => {
    await move();
    const before = workspace.read(applied);
    for (const args of [
      ['apply', 'reviewed.plan', '--yes'],
      ['apply', 'reviewed.plan', '--dry-run'],
    ]) {
      const { exitCode, stderr, stdout } = await workspace.hookmill(...args);
      expect(exitCode).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(message);
    }
    expect(workspace.read(applied)).toBe(before);
  });

  test('a serial, digest or version that was put right by hand does not bring other definitions in', async () => {
    workspace.write('webhooks/new.yaml', 'authMode: url_token\nsecretName: TOKEN\n');
    await workspace.hookmill('plan', '--out', 'other.plan');
    const { definitions } = JSON.parse(workspace.read('other.plan'));
    editPlan(plan => Object.assign(plan, { definitions }));
    const { exitCode, stderr } = await workspace.hookmill('apply', 'reviewed.plan', '--yes');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the planned changes differ');
  });

  test.each<[string, string | undefined, number, string]>([
    ['is no JSON', 'nothing', 1, 'is not valid JSON'],
    ['is of another version', '{"formatVersion": 2}', 1, 'another version of hookmill'],
    ['is no plan', '{"formatVersion": 1}', 1, 'has an invalid value'],
    ['is not there', undefined, 2, 'cannot be read (ENOENT)'],
  ])('when the file %s', async (_, content, status, message) => {
    if (content === undefined) rmSync(workspace.path('reviewed.plan'));
    else workspace.write('reviewed.plan', content);
    const { exitCode, stderr } = await workspace.hookmill('apply', 'reviewed.plan');
    expect({ exitCode, stderr }).toEqual({ exitCode: status, stderr: expect.stringContaining(message) });
  });
});

test('a plan without changes applies to nothing, and no longer after a change', async () => {
  await workspace.hookmill('apply', '--yes');
  await workspace.hookmill('plan', '--out', 'empty.plan');
  expect((await workspace.hookmill('apply', 'empty.plan')).stdout).toContain('No changes.');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  expect((await workspace.hookmill('apply', 'empty.plan')).exitCode).toBe(1);
});

test('a plan that cannot be written is no plan', async () => {
  const { exitCode, stderr } = await workspace.hookmill('plan', '--out', 'missing/reviewed.plan');
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('cannot be written') });
});

function editPlan(edit: (plan: { changes: object[] } & Record<string, unknown>) => unknown): void {
  const plan = JSON.parse(workspace.read('reviewed.plan'));
  edit(plan);
  workspace.write('reviewed.plan', JSON.stringify(plan));
}
