import { mkdirSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const hourMs = 60 * 60 * 1000;

function triage(uid: string, levels: string): string {
  const filter = `filter: { webhook_ids: [${uid}], payload: { level: [${levels}] } }`;
  return `prompt: Look.\ntriggers:\n  - provider: webhook\n    event: received\n    ${filter}\n`;
}

/** The webhooks errors, to which the automation triage listens, and idle; four deliveries in the log. */
async function withDeliveries(): Promise<{ workspace: Workspace; uid: string }> {
  const workspace = makeWorkspace();
  workspace.write('webhooks/errors.yaml', 'secretName: TOKEN\n');
  workspace.write('webhooks/idle.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('apply');
  const { uid }: { uid: string } = JSON.parse(
    (await workspace.hookmill('webhooks', 'show', 'errors', '-o', 'json')).stdout,
  );
  workspace.write('automations/triage.yaml', triage(uid, 'error, fatal'));
  await workspace.hookmill('apply');
  const log = await openDeliveryLog(`${workspace.home}/deliveries.db`);
  for (const [index, level] of ['error', 'info', 'error', 'fatal'].entries()) {
    const payload = Buffer.from(JSON.stringify({ level }));
    const atMs = Date.now() - (84 - index) * hourMs;
    await log.recordAccepted(acceptedDelivery({ id: `dlv_${index}`, webhook: 'errors', uid, atMs, payload }));
  }
  await log.close();
  return { workspace, uid };
}

test('a changed filter: runs of the stored deliveries, before and after, with examples', async () => {
  const { workspace, uid } = await withDeliveries();
  workspace.write('automations/triage.yaml', triage(uid, 'fatal, info'));
  const text = await workspace.hookmill('plan');
  expect(text.stdout).toContain('Of the last 4 deliveries, 2 would start a run (3 before)');
  const json = JSON.parse((await workspace.hookmill('plan', '-o', 'json')).stdout);
  expect(json.changes).toHaveLength(3);
  expect(json.changes.find((change: { name: string }) => change.name === 'triage')).toMatchObject({
    action: 'update',
    impact: {
      judged: 4,
      startedBefore: 3,
      startedAfter: 2,
      changed: 3,
      examples: [
        { deliveryId: 'dlv_2', webhook: 'errors', starts: false },
        { deliveryId: 'dlv_1', webhook: 'errors', starts: true },
        { deliveryId: 'dlv_0', webhook: 'errors', starts: false },
      ],
    },
  });
  const markdown = (await workspace.hookmill('plan', '-o', 'markdown')).stdout;
  expect(rendered(markdown)).toContain(
    'Outcome changes: dlv_2 (would no longer start a run), dlv_1 (would now start a run), dlv_0 (would no longer start a run)',
  );
});

test('shows the traffic of a webhook to be destroyed, and which runs no longer start', async () => {
  const { workspace } = await withDeliveries();
  rmSync(workspace.path('webhooks/errors.yaml'));
  rmSync(workspace.path('webhooks/idle.yaml'));
  const json = JSON.parse((await workspace.hookmill('plan', '-o', 'json')).stdout);
  expect(json.changes[0].impact).toMatchObject({
    effects: ['url-gone'],
    traffic: { lastAcceptedAt: expect.stringMatching(/^2.*Z$/), accepted: 4, days: 7 },
    silenced: ['triage'],
  });
  expect(json.changes[1].impact.traffic).toEqual({ lastAcceptedAt: null, accepted: 0, days: 7 });
  const text = rendered((await workspace.hookmill('plan', '-o', 'markdown')).stdout);
  expect(text).toContain('### hookmill plan: 2 URLs stop answering; 4 deliveries in 7 days would be lost');
  expect(text).toContain('its URL stops answering; restoring');
  expect(text).toContain('| 3 days ago | 4 |');
  expect(text).toContain('no longer starts triage');
  expect(text).toContain('| none in the log | 0 |');
});

test('the comment begins with a hidden line of its factory and directory, which later comments have too', async () => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.path('.git'));
  workspace.write('teams/--> x/webhooks/.gitkeep', '');
  const plan = () =>
    workspace.hookmill('-C', 'teams/--> x', 'plan', '-o', 'markdown', '--factory', 'payments');
  const first = (await plan()).stdout;
  expect(first).toMatch(/^<!-- hookmill-plan payments teams\/--%3E%20x -->\n### hookmill plan: no changes\n/);
  workspace.write('teams/--> x/webhooks/a.yaml', 'authMode: <b>|@everyone|</b>\nsecretName: A\n');
  const refused = await plan();
  expect(refused.exitCode).toBe(1);
  expect(refused.stdout).toMatch(
    /^<!-- hookmill-plan payments teams\/--%3E%20x -->\n### .*cannot be applied\n/,
  );
  expect(rendered(refused.stdout)).toContain('authMode cannot be "<b>|@everyone|</b>"');
  expect(refused.stdout).not.toMatch(/@everyone|<b>/);
});

test('markdown is for plan only', async () => {
  const workspace = makeWorkspace();
  const { exitCode, stderr } = await workspace.hookmill('-o', 'markdown', 'status');
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('plan') });
});

test('a delivery log that cannot be read leaves the plan without its history', async () => {
  const { workspace } = await withDeliveries();
  workspace.write('.hookmill/deliveries.db', '');
  rmSync(workspace.path('webhooks/errors.yaml'));
  const { exitCode, stdout } = await workspace.hookmill('plan');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('no accepted delivery in the log');
});

/** As a reader sees it: character references resolved, tags for code and lines dropped. */
function rendered(markdown: string): string {
  return markdown
    .replaceAll(/<\/?code>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
