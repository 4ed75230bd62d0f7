import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { applyDefinitions } from '../../../../operations/applied/apply.ts';
import { createWebhook, deleteWebhook } from '../../../../operations/applied/webhooks.ts';
import { planFactory } from '../../../../operations/plan/plan-factory.ts';
import { readDirectory } from '../../../../sources/directory-source.ts';
import { parseDefinitions } from '../../../../sources/parse-definitions.ts';
import { appliedStateFile } from '../../../../store/home/home.ts';
import { applyDirectory, makeFactory } from '../../../support/factory.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const value = 'a-secret-of-some-length';

/** A factory with team secrets A and B, the directory of its definitions, and a short way to apply them. */
async function setUp() {
  const workspace = makeWorkspace();
  const factory = makeFactory();
  await factory.store.teamSecrets.set('A', value);
  await factory.store.teamSecrets.set('B', 'another-secret-value');
  return {
    factory,
    workspace,
    write: (name: string, text: string) => workspace.write(`webhooks/${name}.yaml`, text),
    remove: (name: string) => rmSync(workspace.path(`webhooks/${name}.yaml`)),
    definitions: () => parseDefinitions(readDirectory(workspace.directory)),
    /** Applies, and returns the changes as `action name: fields`. */
    apply: async (): Promise<string[]> => {
      const applied = await applyDirectory(factory, workspace.directory);
      if (applied.result === 'invalid') return applied.diagnostics.map(({ code }) => code);
      return applied.changes.map(({ action, name, fields }) => {
        return `${action} ${name}: ${fields.map(({ field }) => field).join(' ')}`;
      });
    },
    state: () => factory.store.appliedStates.read(factory.name),
    uidOf: async (name: string): Promise<string | undefined> => {
      const { webhooks } = await factory.store.appliedStates.read(factory.name);
      return webhooks.find(webhook => webhook.name === name)?.uid;
    },
  };
}

test('assigns a UID once and keeps it through every update', async () => {
  const { write, apply, uidOf } = await setUp();
  write('pay', 'secretName: A\n');
  expect(await apply()).toEqual(['create pay: authMode secretName enabled']);
  const uid = await uidOf('pay');
  for (const [text, change] of [
    ['secretName: A\nenabled: false\n', 'update pay: enabled'],
    ['secretName: A\n', 'update pay: enabled'],
    ['secretName: B\n', 'update pay: secretName'],
    ['secretName: B\nauthMode: url_token\n', 'update pay: authMode'],
    [
      'secretName: B\nauthMode: signature\nsignatureScheme: github\ndeliveryIdHeader: X-Id\n',
      'update pay: authMode signatureScheme deliveryIdHeader',
    ],
  ] as const) {
    write('pay', text);
    expect(await apply()).toEqual([change]);
    expect(await uidOf('pay')).toBe(uid);
  }
});

test('gives a webhook that comes back its UID, and what selects it the same webhook as before', async () => {
  const { factory, workspace, write, remove, apply, definitions, state, uidOf } = await setUp();
  write('pay', 'secretName: A\n');
  workspace.write('automations/by-name.yaml', byName);
  await apply();
  const before = await state();
  const uid = await uidOf('pay');
  const byUid = byName.replace('webhook: pay', `webhook_ids: [${uid}]`);
  workspace.write('automations/by-uid.yaml', byUid);
  remove('pay');
  rmSync(workspace.path('automations/by-name.yaml'));
  expect(await apply()).toContain('delete pay: ');
  // It keeps no webhook in its place.
  expect(await state()).toMatchObject({ webhooks: [], destroyed: [{ uid }] });
  await factory.store.teamSecrets.set('A', 'a-quite-different-value');

  write('pay', 'secretName: A\nenabled: false\n');
  workspace.write('automations/by-name.yaml', byName);
  expect(await planFactory(factory, definitions())).toMatchObject({
    diagnostics: [],
    changes: [
      { action: 'create', name: 'pay', former: { uid } },
      { fields: [{}, {}, { after: [{ filter: { webhook: `pay (${uid})` } }] }] },
      { action: 'no-op', name: 'by-uid' },
    ],
  });
  await apply();
  const after = await state();
  expect(after.webhooks).toMatchObject([{ uid, createdAt: before.webhooks[0]?.createdAt }]);
  expect(after.webhooks[0]?.credential).not.toEqual(before.webhooks[0]?.credential);
  expect(after.automations.map(({ triggers }) => triggers[0]?.filter.webhook_ids)).toEqual([[uid], [uid]]);
  expect(after).not.toHaveProperty('destroyed');
});

test('gives a new UID if senders authenticate in another way, or on request, and the former one never again', async () => {
  const { factory, write, remove, apply, definitions, uidOf } = await setUp();
  const source = { kind: 'directory', directory: '/x' } as const;
  const destroy = async () => {
    remove('pay');
    await apply();
  };
  write('pay', 'secretName: A\n');
  await apply();
  const first = await uidOf('pay');
  await destroy();
  write('pay', 'secretName: B\n');
  await apply();
  const second = await uidOf('pay');
  expect(second).not.toBe(first);
  await destroy();
  write('pay', 'secretName: A\n');
  await applyDefinitions(factory, definitions(), source, async () => true, { newUids: ['pay'] });
  const third = await uidOf('pay');
  expect([first, second]).not.toContain(third);
  const again = applyDefinitions(factory, definitions(), source, async () => true, { newUids: ['pay'] });
  await expect(again).rejects.toMatchObject({ code: 'request-invalid' });
  await destroy();
  write('pay', 'secretName: A\n');
  await apply();
  expect(await uidOf('pay')).toBe(third);
});

test('never gives a URL back whose token was replaced, not even with the former token', async () => {
  const { factory, workspace, write, remove, apply, uidOf } = await setUp();
  await factory.store.teamSecrets.refer('C', `file:${workspace.path('token')}`, null);
  const uids = new Set<string | undefined>();
  for (const token of [value, 'another-token-of-the-url', value]) {
    workspace.write('token', token);
    write('pay', 'secretName: C\nauthMode: url_token\n');
    await apply();
    uids.add(await uidOf('pay'));
    remove('pay');
    await apply();
  }
  expect(uids.size).toBe(3);
});

test('a rename that is taken back is no rename', async () => {
  const { factory, write, remove, apply, definitions, uidOf } = await setUp();
  write('old', 'secretName: A\n');
  await apply();
  const uid = await uidOf('old');
  remove('old');
  write('new', 'secretName: A\n');
  await apply();
  remove('new');
  write('old', 'secretName: A\n');
  expect((await planFactory(factory, definitions())).diagnostics).toEqual([]);
  await apply();
  expect(await uidOf('old')).toBe(uid);
});

test('does not restore what was deleted in the dashboard', async () => {
  const { factory, write, definitions, state } = await setUp();
  const secret = { kind: 'existing', name: 'A', allowShared: false } as const;
  const request = { name: 'pay', authMode: 'token', enabled: true, secret } as const;
  const { result } = await createWebhook(factory, request);
  await deleteWebhook(factory, result.webhook.uid);
  write('pay', 'secretName: A\n');
  const source = { kind: 'directory', directory: '/x' } as const;
  await applyDefinitions(factory, definitions(), source, async () => true, { adopt: true });
  expect((await state()).webhooks[0]?.uid).not.toBe(result.webhook.uid);
});

test('changes only what changed, and counts each write', async () => {
  const { write, remove, apply, state } = await setUp();
  // Sealed again, its credential would be another text.
  write('a', 'secretName: A\nauthMode: signature\nsignatureScheme: github\n');
  for (const name of ['b', 'c']) write(name, 'secretName: A\n');
  await apply();
  const before = await state();
  write('b', 'secretName: A\nenabled: false\n');
  remove('c');
  write('d', 'secretName: B\n');
  expect(await apply()).toEqual([
    'no-op a: ',
    'update b: enabled',
    'delete c: ',
    'create d: authMode secretName enabled',
  ]);
  const after = await state();
  expect([before.serial, after.serial]).toEqual([1, 2]);
  expect(after.webhooks[0]).toEqual(before.webhooks[0]);
});

test('a comment, an order of keys or a default written out is no change', async () => {
  const { write, apply, state } = await setUp();
  write('pay', 'secretName: A\ndeliveryIdHeader: X-Id\n');
  await apply();
  write(
    'pay',
    '# of the billing team\ndeliveryIdHeader: "X-Id"\nenabled: true\nauthMode: token\nsecretName: A\n',
  );
  expect(await apply()).toEqual(['no-op pay: ']);
  expect((await state()).serial).toBe(1);
});

test('keeps the credential in force until an apply uses the new value', async () => {
  const { factory, write, apply, state } = await setUp();
  write('pay', 'secretName: A\n');
  write('code', 'secretName: A\nauthMode: signature\nsignatureScheme: github\n');
  await apply();
  const before = await state();
  await factory.store.teamSecrets.set('A', 'a-quite-different-value');
  expect(await state()).toEqual(before);
  expect(await apply()).toEqual(['update code: secret', 'update pay: secret']);
  const after = await state();
  for (const [i, { credential }] of after.webhooks.entries()) {
    expect(credential).not.toEqual(before.webhooks[i]?.credential);
  }
  expect(JSON.stringify(after)).not.toContain('a-quite-different-value');
});

test('a value that comes back after another counts as new', async () => {
  const { factory, write, apply } = await setUp();
  write('pay', 'secretName: A\n');
  await apply();
  await factory.store.teamSecrets.set('A', 'a-quite-different-value');
  await factory.store.teamSecrets.set('A', value);
  expect(await apply()).toEqual(['update pay: secret']);
});

test('applies a webhook whose team secret is only declared, without a credential', async () => {
  const { factory, write, apply, state } = await setUp();
  await factory.store.teamSecrets.create('LATER', undefined);
  write('pay', 'authMode: url_token\nsecretName: LATER\n');
  await apply();
  expect((await state()).webhooks[0]?.credential).toEqual({ kind: 'unset' });
  expect(await apply()).toEqual(['no-op pay: ']);
});

test.for([
  ['url_token', 15, 'a', ['secret/not-url-safe']],
  ['url_token', 16, '~', ['create pay: authMode secretName enabled']],
  ['url_token', 256, '.', ['create pay: authMode secretName enabled']],
  ['url_token', 257, 'a', ['secret/not-url-safe']],
  ['url_token', 20, '/', ['secret/not-url-safe']],
  ['url_token', 20, '%', ['secret/not-url-safe']],
  ['url_token', 20, 'é', ['secret/not-url-safe']],
  ['token', 1, 'a', ['create pay: authMode secretName enabled']],
  ['token', 20, 'é', ['create pay: authMode secretName enabled']],
  ['token', 20, '\n', ['secret/not-header-safe']],
  ['token', 20, '\0', ['secret/not-header-safe']],
] as const)('a %s secret of %i times %j: %s', async ([authMode, length, character, expected]) => {
  const { factory, write, apply } = await setUp();
  // Between letters, so that the value is not empty; those count as well.
  const padded = length < 3 ? character.repeat(length) : `a${character.repeat(length - 2)}a`;
  await factory.store.teamSecrets.set('C', padded);
  write('pay', `authMode: ${authMode}\nsecretName: C\n`);
  expect(await apply()).toEqual(expected);
});

test('all or nothing: one problem of a team secret keeps every change back, and each is reported', async () => {
  const { write, apply, state } = await setUp();
  write('good', 'secretName: A\n');
  write('lost', 'secretName: NONE\n');
  write('lost-too', 'secretName: NONE_EITHER\n');
  expect(await apply()).toEqual(['secret/missing', 'secret/missing']);
  expect((await state()).serial).toBe(0);
});

test('takes 20 webhooks and refuses 21', async () => {
  const { write, apply } = await setUp();
  for (let i = 0; i < 20; i++) write(`w${i}`, 'secretName: A\n');
  expect(await apply()).toHaveLength(20);
  write('w20', 'secretName: A\n');
  expect(await apply()).toEqual(['webhook/too-many']);
});

test('warns about a team secret that another webhook or a repository uses in another way', async () => {
  const { factory, workspace, write, remove, apply, definitions } = await setUp();
  const messages = async () => {
    const { diagnostics } = await planFactory(factory, definitions());
    return diagnostics.map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
  };
  const signed = (secretName: string, scheme: string) =>
    `authMode: signature\nsignatureScheme: ${scheme}\nsecretName: ${secretName}\n`;
  write('code', signed('A', 'github'));
  write('more-code', signed('A', 'github'));
  write('pay', 'secretName: B\n');
  expect(await messages()).toEqual([]);
  await apply();

  const warning = 'warning secret/shared-by-schemes:';
  write('more-code', signed('A', '{header: X-S, hash: sha256, encoding: hex, content: "{body}"}'));
  expect(await messages()).toEqual([
    `${warning} the webhook more-code also uses A, with a custom scheme instead of the scheme github`,
    `${warning} the webhook code also uses A, with the scheme github instead of a custom scheme`,
  ]);
  remove('more-code');
  expect(await messages()).toEqual([]);

  const other = makeFactory(factory.home, 'other');
  workspace.write('other/webhooks/hidden.yaml', 'authMode: url_token\nsecretName: B\n');
  await applyDirectory(other, workspace.path('other'));
  expect(await messages()).toEqual([`${warning} a webhook of another factory also uses B, in another way`]);

  const followed = { repository: 'https://git.example.com/a', branch: 'main', path: '' };
  const credential = { username: 'x', secretName: 'A' };
  await factory.store.reconcileStatuses.change('default', status => ({
    ...status,
    followed: { ...followed, credential },
  }));
  write('pay', signed('A', 'github'));
  expect(await messages()).toEqual([
    `${warning} the repository of this factory also uses A`,
    `${warning} the repository of this factory also uses A`,
  ]);
});

test('asks once for each change by which a webhook uses its team secret in another way', async () => {
  const { factory, workspace, write, remove, apply, definitions } = await setUp();
  const asked = async () => {
    const planned = await planFactory(factory, definitions());
    const changes = planned.ok ? planned.changes : [];
    return changes.flatMap(({ name, confirmation }) =>
      confirmation ? [`${name}: ${confirmation.reason}`] : [],
    );
  };
  write('pay', 'secretName: A\n');
  write('same', 'secretName: A\n');
  expect(await asked()).toEqual([]);
  await apply();
  write('same', 'secretName: A\nauthMode: url_token\n');
  expect(await asked()).toEqual(['same: shared-secret']);
  await apply();
  write('same', 'secretName: A\nauthMode: url_token\nenabled: false\n');
  expect(await asked()).toEqual([]);

  const other = makeFactory(factory.home, 'other');
  workspace.write('other/webhooks/hidden.yaml', 'authMode: url_token\nsecretName: B\n');
  await applyDirectory(other, workspace.path('other'));
  write('pay', 'secretName: B\n');
  write('more', 'secretName: B\nauthMode: url_token\n');
  remove('same');
  expect(await asked()).toEqual(['more: shared-secret', 'pay: other-factory', 'same: destroy']);
});

test('warns and asks before a webhook sends the secret of another webhook to a provider', async () => {
  const { factory, workspace, write, apply, definitions } = await setUp();
  const planned = async () => {
    const plan = await planFactory(factory, definitions());
    const asked = plan.ok
      ? plan.changes.flatMap(({ name, confirmation }) => (confirmation ? [name] : []))
      : [];
    return { asked, messages: plan.diagnostics.map(({ message }) => message) };
  };
  const sending = (credentialSecret: string) =>
    `authMode: signature\nsignatureScheme: github\nsecretName: A\nsender:\n  provider: github\n  repository: a/b\n  credentialSecret: ${credentialSecret}\n`;
  await factory.store.teamSecrets.set('C', 'a-credential-of-a-provider');
  write('mine', sending('C'));
  expect(await planned()).toEqual({ asked: [], messages: [] });
  await apply();
  const other = makeFactory(factory.home, 'other');
  workspace.write('other/webhooks/hidden.yaml', 'secretName: B\n');
  await applyDirectory(other, workspace.path('other'));
  write('mine', sending('B'));
  const gets = 'its provider gets B as the credential, which is the secret of';
  expect(await planned()).toEqual({ asked: ['mine'], messages: [`${gets} a webhook of another factory`] });
  await apply();
  expect((await planned()).asked).toEqual([]);
  write('mine', sending('C'));
  await apply();
  write('theirs', 'secretName: C\n');
  expect((await planned()).messages).toContain(
    'its provider gets C as the credential, which is the secret of the webhook theirs',
  );
});

test('says nothing about the uses of a team secret that the factory may not use', async () => {
  const { factory, workspace, write, definitions } = await setUp();
  const other = makeFactory(factory.home, 'other');
  await other.store.teamSecrets.create('THEIRS', value, 'other');
  workspace.write('other/webhooks/hidden.yaml', 'authMode: url_token\nsecretName: THEIRS\n');
  await applyDirectory(other, workspace.path('other'));
  write('pay', 'secretName: THEIRS\n');
  const { diagnostics } = await planFactory(factory, definitions());
  expect(diagnostics.map(({ code }) => code)).toEqual(['secret/not-shared']);
});

test('plans although the state of another factory cannot be read', async () => {
  const { factory, write, apply } = await setUp();
  const damaged = appliedStateFile(factory.home, 'other');
  mkdirSync(dirname(damaged), { recursive: true });
  writeFileSync(damaged, '{');
  write('pay', 'secretName: A\n');
  expect(await apply()).toEqual(['create pay: authMode secretName enabled']);
});

test('warns each time about a trigger whose webhook is unknown or removed, and applies it', async () => {
  const { factory, workspace, write, apply, uidOf, definitions } = await setUp();
  write('pay', 'secretName: A\n');
  await apply();
  const trigger = `provider: webhook, event: received, filter: {webhook_ids: [${await uidOf('pay')}]}`;
  workspace.write('automations/triage.yaml', `prompt: Triage.\ntriggers: [{${trigger}}]\n`);
  const known = await planFactory(factory, definitions());
  expect(known.diagnostics).toEqual([]);
  expect(await apply()).toEqual(['no-op pay: ', 'create triage: enabled prompt triggers']);
  rmSync(workspace.path('webhooks/pay.yaml'));
  const goes = await planFactory(factory, definitions());
  expect(goes).toMatchObject({
    ok: true,
    diagnostics: [
      {
        code: 'automation/webhook-unknown',
        severity: 'warning',
        file: 'automations/triage.yaml',
        range: { start: { line: 2, column: 72 } },
      },
    ],
  });
  expect(await apply()).toEqual(['delete pay: ', 'no-op triage: ']);
});

const byName = 'prompt: Act.\ntriggers: [{provider: webhook, event: received, filter: {webhook: pay}}]\n';

test('creates a webhook and an automation that names it in one apply, and plans no change afterwards', async () => {
  const { factory, workspace, write, apply, state, uidOf, definitions } = await setUp();
  write('pay', 'secretName: A\nkeepHeaders: [X-Kind]\n');
  workspace.write('automations/act.yaml', byName.replace('pay}', 'pay, headers: {X-Kind: [a]}}'));
  expect(await planFactory(factory, definitions())).toMatchObject({
    ok: true,
    diagnostics: [],
    changes: [
      { name: 'pay' },
      {
        action: 'create',
        fields: [{}, {}, { after: [{ filter: { webhook: 'pay (known after apply)' } }] }],
      },
    ],
  });
  expect(await apply()).toEqual([
    'create pay: authMode secretName keepHeaders enabled',
    'create act: enabled prompt triggers',
  ]);
  const uid = await uidOf('pay');
  expect((await state()).automations[0]?.triggers[0]?.filter).toMatchObject({
    webhook: 'pay',
    webhook_ids: [uid],
  });
  expect(await apply()).toEqual(['no-op pay: ', 'no-op act: ']);
  // A webhook that is not there yet is checked too.
  workspace.write('automations/act.yaml', byName.replace('pay}', 'new, headers: {X-Other: [a]}}'));
  write('new', 'secretName: A\n');
  expect((await planFactory(factory, definitions())).diagnostics.map(({ code }) => code)).toContain(
    'filter/header-not-kept',
  );
});

test('sees no change in a webhook that is selected by its UID instead of its name', async () => {
  const { workspace, write, apply, uidOf } = await setUp();
  write('pay', 'secretName: A\n');
  workspace.write('automations/act.yaml', byName);
  await apply();
  const byUid = byName.replace('webhook: pay', `webhook_ids: [${await uidOf('pay')}]`);
  workspace.write('automations/act.yaml', byUid);
  expect(await apply()).toEqual(['no-op pay: ', 'no-op act: ']);
  workspace.write('automations/act.yaml', byUid.replace('Act.', 'Act now.'));
  expect(await apply()).toEqual(['no-op pay: ', 'update act: prompt']);
  workspace.write('automations/act.yaml', byName.replace('Act.', 'Act now.'));
  expect(await apply()).toEqual(['no-op pay: ', 'no-op act: ']);
});

test('refuses a name without a file, with the one that was meant, also of an applied webhook', async () => {
  const { workspace, write, remove, apply, definitions } = await setUp();
  write('pay', 'secretName: A\n');
  workspace.write('automations/act.yaml', byName);
  await apply();
  remove('pay');
  write('pays', 'secretName: A\n');
  expect(definitions().diagnostics).toMatchObject([
    {
      code: 'automation/webhook-unknown',
      severity: 'error',
      message: 'there is no webhook pay',
      hint: 'did you mean pays?',
      range: { start: { line: 2, column: 67 } },
    },
  ]);
  expect(await apply()).toEqual(['automation/webhook-unknown', 'webhook/renamed']);
});

test('pins a name again when the webhook of that name is another one', async () => {
  const { factory, workspace, write, apply, uidOf, state, definitions } = await setUp();
  write('pay', 'secretName: A\n');
  workspace.write('automations/act.yaml', byName);
  await apply();
  const before = await uidOf('pay');
  const after = `wh_${'0'.repeat(24)}`;
  await factory.store.appliedStates.change(factory.name, async state => ({
    next: { ...state, webhooks: state.webhooks.map(webhook => ({ ...webhook, uid: after })) },
    result: undefined,
  }));
  expect(await planFactory(factory, definitions())).toMatchObject({
    changes: [
      { name: 'pay' },
      {
        fields: [
          { path: 'triggers[pay].filter.webhook', before: `pay (${before})`, after: `pay (${after})` },
        ],
      },
    ],
  });
  expect(await apply()).toEqual(['no-op pay: ', 'update act: triggers']);
  expect((await state()).automations[0]?.triggers[0]?.filter.webhook_ids).toEqual([after]);
});

test('asks before it writes, with the changes, and a no changes nothing', async () => {
  const { factory, write, definitions, state } = await setUp();
  write('pay', 'secretName: A\n');
  const source = { kind: 'directory', directory: '/x' } as const;
  let asked: unknown;
  const declined = await applyDefinitions(factory, definitions(), source, async planned => {
    asked = planned.changes;
    return false;
  });
  expect(declined.result).toBe('declined');
  expect(asked).toMatchObject([{ action: 'create', name: 'pay' }]);
  expect((await state()).serial).toBe(0);
});

test('warns that a renamed file is a new webhook, and only of what is one', async () => {
  const { factory, write, remove, apply, definitions } = await setUp();
  write('old', 'secretName: A\n');
  write('other', 'secretName: B\n');
  await apply();
  const renamed = async () => {
    const planned = await planFactory(factory, definitions());
    return planned.diagnostics.map(({ code, severity, message }) => [code, severity, message]);
  };
  remove('old');
  expect(await renamed()).toEqual([]);
  write('new', 'secretName: A\n');
  const message =
    'the webhook old seems to be renamed to new: its URL would change, and its sender would get 404';
  expect(await renamed()).toEqual([['webhook/renamed', 'warning', message]]);
  write('second', 'secretName: A\n');
  expect(await renamed()).toEqual([['webhook/renamed', 'warning', message]]);
  remove('second');
  write('new', 'secretName: A\nauthMode: url_token\n');
  expect(await renamed()).toEqual([]);
});
