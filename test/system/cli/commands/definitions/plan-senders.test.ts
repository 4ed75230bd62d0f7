import { expect, test } from 'vitest';
import type { ProviderHook } from '../../../../../schema/sender.ts';
import { homeAt } from '../../../../../store/home/home.ts';
import { factoryIn } from '../../../../support/stored.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';

const signed = 'authMode: signature\nsignatureScheme: github\nsecretName: SHOP_WEBHOOK\n';
const senderIn = (repository: string) =>
  `${signed}sender: { provider: github, repository: ${repository}, credentialSecret: HOOKS_TOKEN }\n`;

async function openShop() {
  const workspace = makeWorkspace();
  const { hookmill, write } = workspace;
  for (const name of ['SHOP_WEBHOOK', 'HOOKS_TOKEN'])
    await hookmill('secrets', 'set', name, { stdin: `a long enough value of ${name}` });
  write('webhooks/shop.yaml', senderIn('acme/shop'));
  write('webhooks/other.yaml', signed);
  const plan = async () => {
    const [text, markdown, json] = [
      await hookmill('plan'),
      await hookmill('plan', '-o', 'markdown'),
      await hookmill('plan', '-o', 'json'),
    ].map(({ stdout }) => stdout);
    const { changes } = JSON.parse(json ?? '');
    const tasks = (changes as { name: string; atProvider?: string[] }[]).flatMap(
      ({ name, atProvider = [] }) => atProvider.map(task => `${name}: ${task}`),
    );
    return { text: text ?? '', markdown: markdown ?? '', tasks };
  };
  return { workspace, plan };
}

const registers = (place: string) =>
  `run \`hookmill senders register shop\` after the apply, so that ${place} has its hook`;

test('a plan and an apply say what to do at the provider, and only about webhooks with a sender', async () => {
  const { workspace, plan } = await openShop();
  const added = await plan();
  expect(added.tasks).toEqual([`shop: ${registers('github repository acme/shop')}`]);
  expect(added.text).toContain(`    ! ${registers('github repository acme/shop')}\n`);
  expect(added.markdown).toContain('hookmill senders register shop');
  const applied = await workspace.hookmill('apply', '--yes');
  expect(applied.stdout).toContain(`    ! ${registers('github repository acme/shop')}\n`);

  workspace.write('webhooks/shop.yaml', `${senderIn('acme/shop')}enabled: false\n`);
  expect((await plan()).tasks).toEqual([]);

  const { uid } = JSON.parse((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout).find(
    ({ name }: { name: string }) => name === 'shop',
  );
  workspace.write('webhooks/shop.yaml', senderIn('acme/other'));
  expect((await plan()).tasks).toEqual([
    `shop: delete the hook of github repository acme/shop whose URL ends with ${uid}: nothing else needs it`,
    `shop: ${registers('github repository acme/other')}`,
  ]);

  const { name, store } = factoryIn(homeAt(workspace.home), 'default', 10_000);
  const hook: ProviderHook = {
    ...{ id: '123', url: `https://hooks.example.com/webhooks/w/${uid}`, events: ['push'], isActive: true },
    ...{ disabledUntil: null, contentType: 'json', verifiesTls: true, hasSecret: true, lastAnswer: null },
  };
  const checked = { at: new Date().toISOString(), problem: null, hooks: [hook] };
  await store.senderStates.learn(name, uid, state => ({ ...state, checked }));
  workspace.remove('webhooks/shop.yaml');
  const leftover = 'delete hook 123 of github repository acme/shop: nothing else needs it';
  const destroyed = await plan();
  expect(destroyed.tasks).toEqual([`shop: ${leftover}`]);
  expect(destroyed.markdown).toContain('<br>delete hook 123 of github repository');
  const destroying = await workspace.hookmill('apply', '--yes');
  expect(destroying.stdout).toContain(`    ! ${leftover}\n`);
});

test('a plan that was reviewed is still valid after something was learned of a hook', async () => {
  const { workspace } = await openShop();
  await workspace.hookmill('apply', '--yes');
  workspace.remove('webhooks/shop.yaml');
  await workspace.hookmill('plan', '--out', 'reviewed.plan');
  const { webhooks } = JSON.parse(workspace.read('.hookmill/applied/default.json'));
  const { uid } = webhooks.find(({ name }: { name: string }) => name === 'shop');
  const { name, store } = factoryIn(homeAt(workspace.home), 'default', 10_000);
  const checked = { at: new Date().toISOString(), problem: null, hooks: [] };
  await store.senderStates.learn(name, uid, state => ({ ...state, checked }));
  expect(await workspace.hookmill('apply', 'reviewed.plan')).toMatchObject({ exitCode: 0 });
});
