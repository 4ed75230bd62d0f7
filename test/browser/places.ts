import { eventually } from '../support/eventually.ts';
import { chooseInAccount, type Dashboard, openDashboard } from './browser.ts';
import { createWebhook, deliver, listRuns, triggerOn, waitForHealth } from './samples.ts';

/** A place of the dashboard that every look of it is judged by: no page is left out. */
export interface Place {
  readonly name: string;
  /** The address in the factory; by default the overview. */
  readonly address?: string;
  /** Opens what is judged on the page: a row, a dialog. */
  readonly open?: () => Promise<void>;
}

/** Opens a factory that has something to show everywhere. */
export async function openFullFactory(): Promise<Dashboard & { readonly places: readonly Place[] }> {
  const dashboard = await openDashboard();
  return { ...dashboard, places: await listAllPlaces(dashboard) };
}

async function listAllPlaces({ api, page }: Dashboard): Promise<readonly Place[]> {
  const webhook = await createWebhook(api, 'deploys');
  const triggers = [triggerOn(webhook.uid, { state: ['failed'] }), triggerOn('wh_0123456789abcdefghijklmn')];
  const keys = {
    ...{ concurrency: 2, concurrencyKey: '$.repository.full_name', order: '$.service.name' },
    ...{ onFailure: 'hold', debounce: { for: '1s' }, timeLimit: '10m', attempts: 1, runsPerHour: 1_000 },
  };
  await api('POST', '/automations', { name: 'triage-failed-deploys', prompt: 'Look.', triggers, ...keys });
  await deliver(webhook, { state: 'passed' });
  const url = `https://ci.example/${'long/'.repeat(60)}`;
  const delivery = await deliver(webhook, { state: 'failed', url });
  await webhook.post({}, 'wrong');
  // Otherwise, runs that end and health that is judged later would change the pages while they are looked at.
  await eventually(async () => (await listRuns(api)).every(({ state }) => state === 'failed'));
  await waitForHealth(api, { [webhook.uid]: 'healthy' });
  const runs = await listRuns(api);
  const click = (name: string) => () => page.getByRole('button', { name }).click();
  const press = (key: string) => () => page.keyboard.press(key);
  return [
    { name: 'overview', address: '/overview' },
    { name: 'webhooks', address: '/webhooks' },
    { name: 'webhook', address: `/webhooks/${webhook.uid}` },
    ...['set-up', 'filters', 'definition'].map(tab => ({
      name: `webhook-${tab}`,
      address: `/webhooks/${webhook.uid}?tab=${tab}`,
    })),
    { name: 'new-webhook', address: '/new-webhook' },
    { name: 'automations', address: '/automations' },
    { name: 'automation', address: '/automations/triage-failed-deploys' },
    { name: 'new-automation', address: '/new-automation' },
    { name: 'deliveries', address: '/deliveries' },
    {
      name: 'deliveries-none',
      address: '/deliveries?state=failed&event=push&since=2026-01-31T14:05:00Z',
    },
    { name: 'bulk-replay', address: '/deliveries', open: click('Replay these…') },
    { name: 'delivery', address: `/deliveries/${delivery}` },
    { name: 'comparison', address: `/deliveries/${delivery}`, open: click('Compare') },
    { name: 'runs', address: '/runs' },
    { name: 'run', address: `/runs/${runs[0]?.id}` },
    ...['branch', 'secrets', 'tokens', 'sign-in', 'alerts', 'audit', 'daemon'].map(section => ({
      name: `settings-${section}`,
      address: `/settings/${section}`,
    })),
    { name: 'sessions', open: () => chooseInAccount(page, 'Sessions') },
    { name: 'delivery-unknown', address: '/deliveries/dlv_01m856whecx7r30kredhc56hrf' },
    { name: 'nothing', address: '/nowhere' },
    { name: 'jump', open: press('/') },
    { name: 'keyboard', open: press('?') },
  ];
}
