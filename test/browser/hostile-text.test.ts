import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { makeUpstream } from '../support/git-samples.ts';
import { send } from '../support/http.ts';
import { type Api, browserTest, openDashboard, openNewWebhook, textOf } from './browser.ts';
import { followUpstream } from './definition-samples.ts';
import { automate, createWebhook } from './samples.ts';

const hostile = [
  '<script>window.ran = 1</script>',
  '<img src=x onerror="window.ran = 1">',
  '"><svg onload=window.ran=1>',
  "' autofocus onfocus='window.ran = 1",
  'javascript:window.ran=1',
  '</pre></code></textarea><iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
  '<a href="javascript:window.ran=1">open</a>',
  '<style>* { display: none }</style>',
  '<base href="//evil.example/"><meta http-equiv="refresh" content="0;url=//evil.example">',
  '<form action="//evil.example"><button>Sign in</button></form>',
  '{{constructor.constructor("window.ran=1")()}}',
  '&lt;script&gt;window.ran=1&lt;/script&gt;',
  '%3Cscript%3Ewindow.ran=1%3C/script%3E',
  '<!--<img src="--><img src=x onerror=window.ran=1//">',
  '__proto__',
];
const all = hostile.join(' ');

/** Expects that no script ran and that no text became markup. */
async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate<unknown[]>(`[
    window.ran,
    document.querySelectorAll('body script, img, iframe, base, style, object, embed').length,
    document.querySelectorAll('[onerror], [onload], [onfocus], [srcdoc], [action]').length,
    [...document.links].filter(link => !/^https?:$/.test(link.protocol)).length,
    document.querySelectorAll('meta[http-equiv]').length,
  ]`);
  expect(found).toEqual([undefined, 0, 0, 0, 0]);
}

/** A payload with each text as a name and as a value, and an automation with all of them in its prompt and its filter. */
const payload = Object.fromEntries(hostile.map(text => [text, [text]]));

async function automateHostile(api: Api, uid: string): Promise<void> {
  const filter = Object.fromEntries(Object.entries(payload).slice(0, 8));
  await automate(api, 'triage', uid, filter, { prompt: all });
}

browserTest('shows payloads, identities, headers, prompts and output as the text that they are', async () => {
  const { page, api, visit } = await openDashboard({ browser: { viewport: { width: 1440, height: 900 } } });
  const webhook = await createWebhook(api, 'deploys', { keepHeaders: ['X-GitHub-Event'] });
  await automateHostile(api, webhook.uid);
  const headers = {
    authorization: `Bearer ${webhook.secret}`,
    'X-Service-Delivery-Id': hostile[1],
    'X-GitHub-Event': hostile[0],
  };
  const { deliveryId = '' } = await send(webhook.url, { headers, body: JSON.stringify(payload) });

  await visit('/deliveries');
  const row = page.locator('.row.d');
  await row.waitFor();
  expect(await textOf(row)).toContain(hostile[0]);
  await expectHarmless(page);
  await row.click();
  await page.getByRole('heading', { name: hostile[0] ?? '' }).waitFor();
  await page.getByRole('region', { name: 'Why' }).getByText('matched', { exact: true }).waitFor();
  const tree = page.getByRole('tree', { name: 'Payload' });
  const shown = await textOf(tree);
  for (const text of hostile) expect(shown).toContain(`[0]${JSON.stringify(text)}`);
  await page.getByLabel('Search the payload').fill('<script>');
  await page.getByText(/^1 of \d/).waitFor();
  expect(await textOf(tree.locator('mark').first())).toBe('<script>');
  await expectHarmless(page);
  const parts = page.getByRole('region', { name: 'Request' });
  await parts.getByRole('button', { name: /^Headers/ }).click();
  expect(await textOf(parts.locator('.facts'))).toContain(hostile[0]);
  await parts.getByRole('button', { name: 'Identity' }).click();
  expect(await textOf(parts.locator('.facts'))).toContain(hostile[1]);
  await parts.getByRole('button', { name: 'Raw' }).click();
  expect(await textOf(parts.locator('pre'))).toBe(JSON.stringify(payload));
  await expectHarmless(page);
  await send(webhook.url, {
    headers: { ...headers, 'X-Service-Delivery-Id': 'other' },
    body: JSON.stringify({ [hostile[1] ?? '']: hostile[2] }),
  });
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.differences').getByText(JSON.stringify(hostile[2]), { exact: true }).waitFor();
  await expectHarmless(page);

  await visit(`/deliveries/${deliveryId}`);
  await page
    .getByRole('region', { name: 'Runs' })
    .getByRole('link', { name: /triage/ })
    .click();
  await page.locator('pre').getByText('window.ran').first().waitFor();
  await expectHarmless(page);
  await page.getByRole('link', { name: 'Prompt' }).click();
  await expect.poll(() => textOf(page.locator('main'))).toContain(all);
  await expectHarmless(page);
});

browserTest(
  'shows prompts and filters of automations, and tests of them, as the text that they are',
  async () => {
    const { page, api, visit } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    await automateHostile(api, webhook.uid);
    await webhook.post(payload);
    await visit('/automations');
    await page.getByRole('link', { name: 'triage' }).waitFor();
    await expectHarmless(page);
    await visit('/automations/triage');
    await page.getByText('Would have started 1 of the last 1').waitFor();
    const editor = page.getByRole('textbox', { name: 'Definition' });
    for (const text of ['<script>', '<img src=x']) expect(await textOf(editor)).toContain(text);
    await expect.poll(() => textOf(page.locator('main'))).toContain(`$[${JSON.stringify(hostile[1])}]`);
    await expectHarmless(page);
    await page.getByRole('button', { name: 'Run with…' }).click();
    const typed = page.getByLabel('Payload', { exact: true });
    await expect.poll(() => typed.inputValue()).toContain('<script>');
    await typed.fill(JSON.stringify({ [all]: all }));
    await expectHarmless(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await editor.click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText(`# ${hostile.join(' ').replaceAll(/\s/g, ' ')}\n`);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('Nothing changes.').waitFor();
    await expectHarmless(page);
  },
);

browserTest('shows refused input, invented addresses, commits and files as text', async () => {
  const dashboard = await openDashboard();
  const { page, factory, visit } = dashboard;
  await openNewWebhook(dashboard, 'deploys');
  await page.getByText('More options', { exact: true }).click();
  for (const text of hostile.slice(0, 6)) {
    await page.getByLabel('Secret name').fill(text);
    await page.getByLabel('Delivery ID').fill(text);
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('alert').getByText(`"${text}" is not a header name`).first().waitFor();
    await expectHarmless(page);
  }
  for (const text of hostile.slice(0, 6)) {
    const name = encodeURIComponent(text);
    await page.goto(`${page.url().split('#')[0]}#/${name}/automations`);
    await page.getByRole('alert').getByText(text).waitFor();
    await expectHarmless(page);
    await page.goto(`${page.url().split('#')[0]}#/${factory}/webhooks/${name}`);
    await page.getByRole('heading', { name: 'Webhook not found' }).waitFor();
    expect(await textOf(page.locator('main'))).toContain(text);
    await expectHarmless(page);
  }

  const upstream = makeUpstream();
  const definition = 'secretName: S\n';
  upstream.commit({ 'webhooks/deploys.yaml': definition }, all);
  const reconcile = await followUpstream(dashboard, upstream.bare);
  await reconcile();
  upstream.git('config', 'user.name', '<img src=x onerror=window.ran=1>');
  const broken = `authMode: ${JSON.stringify(hostile[0])}\nsecretName: ${JSON.stringify(hostile[1])}\n`;
  upstream.commit({ 'webhooks/deploys.yaml': broken }, all);
  await reconcile();
  await visit('/status');
  await page.reload();
  await page.getByText(/^\S+ cannot be applied since/).waitFor();
  expect(await textOf(page.locator('main'))).toContain(hostile[0]);
  await expectHarmless(page);
});

browserTest(
  'shows invisible characters, and those that change the direction of text, as escapes',
  async () => {
    const { page, api, visit } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    const { deliveryId } = await webhook.post('{"file":"\u202egpj.exe","zero\u200bwidth":"\u2066"}');
    await visit(`/deliveries/${deliveryId}`);
    const tree = page.getByRole('tree', { name: 'Payload' });
    await tree.waitFor();
    expect(await tree.getByRole('treeitem').allTextContents()).toEqual([
      'file"\\u202egpj.exe"',
      'zero\\u200bwidth"\\u2066"',
    ]);
    await page.getByRole('button', { name: 'Raw' }).click();
    expect(await textOf(page.locator('pre.raw'))).toBe(
      '{"file":"\\u202egpj.exe","zero\\u200bwidth":"\\u2066"}',
    );
  },
);
