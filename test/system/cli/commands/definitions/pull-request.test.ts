import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { lexer, type Token } from 'marked';
import { beforeAll, expect, test } from 'vitest';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { operatorEnvironment } from '../../../../support/git-samples.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

// A definitions repository with 260 stored deliveries, and a pull request whose only change is one value of a filter.
// Of the last 200 deliveries, 50 have failed, 40 have an error, and 110 have passed.

const workspace: Workspace = makeWorkspace();
const path = 'triggers[deploys].filter.payload.deploy.action';

function automation(uid: string, actions: string): string {
  return `prompt: |
  A deploy failed. Find out why.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook_ids: [${uid}]
      payload:
        deploy:
          action: [${actions}]
        environment: [production]
`;
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const options = { cwd: workspace.directory, env: operatorEnvironment, encoding: 'utf8' as const };
  return execFileSync('git', [...identity, ...args], options);
}

beforeAll(async () => {
  workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('apply');
  const [{ uid }] = JSON.parse((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout);
  workspace.write('automations/triage.yaml', automation(uid, 'failed'));
  workspace.write('.gitignore', '.hookmill/\n');
  await workspace.hookmill('apply');
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message=Start');
  const log = await openDeliveryLog(`${workspace.home}/deliveries.db`);
  for (let index = 0; index < 260; index++) {
    const action = index < 110 ? 'failed' : index < 150 ? 'error' : 'passed';
    const payload = Buffer.from(JSON.stringify({ deploy: { action }, environment: 'production' }));
    const atMs = Date.now() - (1_000 - index) * 1_000;
    await log.recordAccepted(
      acceptedDelivery({ id: `dlv_${index}`, webhook: 'deploys', uid, atMs, payload }),
    );
  }
  await log.close();
  git('switch', '--quiet', '--create', 'also-errors');
  workspace.write('automations/triage.yaml', automation(uid, 'failed, error'));
  git('commit', '--quiet', '--all', '--message=Investigate errors too');
});

test('the pull request changes one line', () => {
  expect(git('diff', '--numstat', 'main').trim()).toBe('1\t1\tautomations/triage.yaml');
});

test('the comment shows the value before and after, and how many of the last 200 outcomes change', async () => {
  const { stdout, exitCode } = await workspace.hookmill('plan', '-o', 'markdown');
  expect(exitCode).toBe(0);
  const blocks = lexer(stdout).filter(({ type }) => type !== 'space');
  expect(blocks.map(({ type }) => type)).toEqual([
    'html',
    'heading',
    'paragraph',
    'table',
    'heading',
    'list',
    'code',
  ]);
  expect(blocks.at(-1)).toMatchObject({
    lang: 'diff',
    text: `- ${path}: [failed]\n+ ${path}: [failed, error]`,
  });
  expect(readText(blocks[3])).toContain(
    'Of the last 200 deliveries, 90 would start a run (50 before); the outcome of 40 changes',
  );
});

test('text and JSON say the same, and the plan file keeps it', async () => {
  const text = await workspace.hookmill('plan', '--out', 'reviewed.plan');
  expect(text.stdout).toBe(`\
~ automation triage
    ~ ${path}: [failed] → [failed, error]
    ! Of the last 200 deliveries, 90 would start a run (50 before); the outcome of 40 changes
    ! Outcome changes: ${[149, 148, 147, 146, 145].map(n => `dlv_${n} (would now start a run)`).join(', ')} and 35 more

Plan: 0 to add, 1 to change, 0 to destroy.
`);
  const [change] = findChanges((await workspace.hookmill('plan', '-o', 'json')).stdout);
  const fields = [{ field: 'triggers', path, before: ['failed'], after: ['failed', 'error'] }];
  expect(change).toMatchObject({ fields, impact: { judged: 200, changed: 40 } });
  expect(findChanges(readFileSync(workspace.path('reviewed.plan'), 'utf8'))).toMatchObject([{ fields }]);
});

test('colours say which side is which, and NO_COLOR leaves them out', async () => {
  const coloured = await workspace.hookmill('plan', { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
  expect(coloured.stdout).toContain(
    `\u001b[33m~\u001b[39m ${path}: \u001b[31m[failed]\u001b[39m → \u001b[32m[failed, error]\u001b[39m`,
  );
  const plain = await workspace.hookmill('plan', { env: { FORCE_COLOR: '1' } });
  expect(plain.stdout).not.toContain('\u001b');
});

test('apply prints what the plan said', async () => {
  const planned = await workspace.hookmill('plan');
  expect((await workspace.hookmill('apply', '--dry-run')).stdout).toBe(planned.stdout);
  const applied = await workspace.hookmill('apply');
  expect(applied.stdout.startsWith(`${planned.stdout}\nApplied as serial 3.\n`)).toBe(true);
});

function findChanges(json: string): readonly { action: string }[] {
  const { changes }: { changes: { action: string }[] } = JSON.parse(json);
  return changes.filter(({ action }) => action !== 'no-op');
}

/** The text of a block as a reader sees it: character references resolved. */
function readText(block: Token | undefined): string {
  return (block?.raw ?? '').replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
