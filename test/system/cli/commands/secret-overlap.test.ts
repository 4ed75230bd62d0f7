import { expect, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import { readStore } from '../../../support/stored.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const [first, second] = ['first-value-of-the-secret', 'second-value-of-the-secret'];

async function succeed(workspace: Workspace, words: string, stdin = ''): Promise<string> {
  const { exitCode, stdout, stderr } = await workspace.hookmill(...words.split(' '), { stdin });
  expect(exitCode, `${words}: ${stderr}`).toBe(0);
  return stdout + stderr;
}

/** A workspace whose webhooks are applied with the first value of the secret PAY. */
async function withWebhooks(webhooks: Readonly<Record<string, object>>): Promise<Workspace> {
  const workspace = makeWorkspace();
  for (const [name, webhook] of Object.entries(webhooks)) {
    workspace.write(`webhooks/${name}.yaml`, JSON.stringify({ secretName: 'PAY', ...webhook }));
  }
  await succeed(workspace, 'secrets set PAY', first);
  await succeed(workspace, 'apply --yes');
  return workspace;
}

/** Everything that is kept of secrets, and in force. */
function readKept(workspace: Workspace): Promise<string> {
  return readStore(homeAt(workspace.home), async ({ teamSecrets, appliedStates }) =>
    JSON.stringify([
      await teamSecrets.list(),
      [...(await teamSecrets.open(['PAY']))],
      await appliedStates.read('default'),
    ]),
  );
}

interface Refused {
  readonly words?: string;
  readonly prepare: () => Promise<Workspace>;
  readonly reason: string;
}

const refused: Readonly<Record<string, Refused>> = {
  'a secret that does not exist': {
    prepare: async () => makeWorkspace(),
    reason: 'there is no team secret PAY',
  },
  'a secret without a value': {
    prepare: async () => {
      const workspace = makeWorkspace();
      await succeed(workspace, 'secrets declare PAY');
      return workspace;
    },
    reason: 'the team secret PAY has no value that could stay valid. Set it without --overlap',
  },
  'a secret that is kept elsewhere': {
    prepare: async () => {
      const workspace = makeWorkspace();
      await succeed(workspace, 'secrets set PAY --from env:PATH');
      return workspace;
    },
    reason:
      'the value of the team secret PAY is kept elsewhere, so hookmill cannot keep the one before. Change it there, and apply',
  },
  'a secret that no webhook uses': {
    prepare: async () => {
      const workspace = makeWorkspace();
      await succeed(workspace, 'secrets set PAY', first);
      return workspace;
    },
    reason:
      'no enabled webhook uses a value of the team secret PAY yet, so there is none to keep. Set it without --overlap',
  },
  'a secret in a URL': {
    prepare: () => withWebhooks({ pay: {}, form: { authMode: 'url_token' } }),
    reason:
      'the webhook form of the factory default uses the team secret PAY, in its URL: no overlap is possible. Set it without --overlap',
  },
  'the secret of a repository': {
    prepare: async () => {
      const workspace = await withWebhooks({ pay: {} });
      await readStore(homeAt(workspace.home), async ({ reconcileStatuses }) => {
        const credential = { username: 'git', secretName: 'PAY' };
        const followed = { repository: 'https://git.test/a.git', branch: 'main', path: '', credential };
        await reconcileStatuses.change('default', status => ({ ...status, followed }));
      });
      return workspace;
    },
    reason:
      'the repository of the factory default uses the team secret PAY, which reads it each time that it is needed: no overlap is possible. Set it without --overlap',
  },
  'the value that webhooks use already': {
    words: `secrets set PAY --overlap 2h`,
    prepare: async () => {
      const workspace = await withWebhooks({ pay: {} });
      return workspace;
    },
    reason: 'the value of PAY is the one that its webhooks use already. Give the new one',
  },
  'a second overlap while one runs': {
    prepare: async () => {
      const workspace = await withWebhooks({ pay: {} });
      await succeed(workspace, 'secrets set PAY --overlap 2h', 'another-value-of-the-secret');
      await succeed(workspace, 'apply --yes');
      return workspace;
    },
    reason: 'Wait, or end that overlap with `hookmill secrets set PAY --end`',
  },
  'webhooks that use different values': {
    prepare: async () => {
      const workspace = await withWebhooks({ pay: {} });
      await succeed(workspace, 'secrets set PAY', 'another-value-of-the-secret');
      await succeed(workspace, 'secrets share PAY other');
      workspace.write('other/webhooks/two.yaml', '{ secretName: PAY }');
      await succeed(workspace, '--directory other --home .hookmill --factory other apply --yes');
      return workspace;
    },
    reason:
      'the webhooks that use the team secret PAY (default/pay, other/two) have different values of it. Apply them all first',
  },
  'an overlap of 59 s': {
    words: 'secrets set PAY --overlap 59s',
    prepare: () => withWebhooks({ pay: {} }),
    reason: '"59s" is not a time from 1m to 7d; write it as in 30m, 2h or 7d',
  },
  'an overlap of 8 days': {
    words: 'secrets generate PAY --overlap 8d',
    prepare: () => withWebhooks({ pay: {} }),
    reason: '"8d" is not a time from 1m to 7d; write it as in 30m, 2h or 7d',
  },
  'an end and an overlap together': {
    words: 'secrets set PAY --overlap 2h --end',
    prepare: () => withWebhooks({ pay: {} }),
    reason: '--from, --overlap and --end exclude each other; use one',
  },
  'the end of an overlap that there is not': {
    words: 'secrets set PAY --end',
    prepare: () => withWebhooks({ pay: {} }),
    reason: 'no previous value of the team secret PAY is kept',
  },
};

test.each(Object.entries(refused))(
  'refuses %s, and changes nothing',
  async (what, { words, prepare, reason }) => {
    const workspace = await prepare();
    const before = await readKept(workspace);
    const stdin = what === 'the value that webhooks use already' ? first : second;
    const { exitCode, stderr } = await workspace.hookmill(
      ...(words ?? 'secrets set PAY --overlap 2h').split(' '),
      { stdin },
    );
    expect(stderr).toContain(reason);
    expect(exitCode).not.toBe(0);
    expect(await readKept(workspace)).toBe(before);
    const { stdout } = await workspace.hookmill('audit', '-o', 'json');
    expect(JSON.parse(stdout).filter(({ unfinished }: { unfinished?: true }) => unfinished)).toEqual([]);
  },
);

test('a value that was set before without an overlap, and not applied, can get one', async () => {
  const workspace = await withWebhooks({ pay: {} });
  await succeed(workspace, 'secrets set PAY', second);
  await succeed(workspace, 'secrets set PAY --overlap 2h', second);
  expect(await succeed(workspace, 'plan')).toContain('the old one works until');
});

test('a generated value can overlap too, and says until when', async () => {
  const workspace = await withWebhooks({ pay: {} });
  const words = 'secrets generate PAY --overlap 2h -o json'.split(' ');
  const { stdout, stderr } = await workspace.hookmill(...words);
  const { previousUntil, value } = JSON.parse(stdout);
  expect(stderr).toContain(`The value that webhooks use now stays valid until ${previousUntil}.`);
  expect(await succeed(workspace, 'plan')).toContain(`the old one works until ${previousUntil}`);
  expect(value).toMatch(/^[\w-]{43}$/);
});

test('a reviewed plan is not applied once the overlap that it shows has ended', async () => {
  const workspace = await withWebhooks({ pay: {} });
  await succeed(workspace, 'secrets set PAY --overlap 2h', second);
  await succeed(workspace, 'plan --out reviewed.plan');
  expect(await succeed(workspace, 'secrets set PAY --end')).toContain('It was not applied yet.');
  const applied = await workspace.hookmill('apply', 'reviewed.plan');
  expect(applied).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('the planned changes differ'),
  });
});

test('both values are sealed with a new key, are in backups, and never in the open', async () => {
  const workspace = await withWebhooks({ pay: { authMode: 'signature', signatureScheme: 'github' } });
  await succeed(workspace, 'secrets set PAY --overlap 2h', second);
  await succeed(workspace, 'apply --yes');
  const read = () =>
    readStore(homeAt(workspace.home), async ({ appliedStates, seal }) => {
      const { webhooks } = await appliedStates.read('default');
      const [webhook] = webhooks;
      if (webhook?.credential.kind !== 'sealed') throw new Error('there is no sealed credential');
      const { jwe, previous } = webhook.credential;
      const owner = { use: 'credential', factory: 'default', name: webhook.uid } as const;
      const opened = [await seal.open(jwe, owner), await seal.open(previous?.jwe ?? '', owner)];
      return { sealed: [jwe, previous?.jwe], opened, until: previous?.until };
    });
  const before = await read();
  expect(before.opened).toEqual([second, first]);
  expect(await succeed(workspace, 'key rotate')).toContain('3');
  const after = await read();
  expect(after).toMatchObject({ opened: [second, first], until: before.until });
  for (const jwe of before.sealed) expect(after.sealed).not.toContain(jwe);
  await succeed(workspace, 'store backup copy');
  const key = workspace.read('.hookmill/key').trim();
  const env = { HOOKMILL_HOME: 'restored', HOOKMILL_KEY: key };
  expect(await workspace.hookmill('store', 'restore', 'copy', { env })).toMatchObject({ exitCode: 0 });
  const planned = await workspace.hookmill('plan', '--detailed-exitcode', { env });
  expect(planned).toMatchObject({ exitCode: 0 });
  const listed = await workspace.hookmill('secrets', 'list', { env });
  expect(listed.stdout).toContain(`set, previous until ${before.until}`);
  const kept = await readKept(workspace);
  for (const value of [first, second])
    expect(workspace.read('.hookmill/applied/default.json')).not.toContain(value);
  expect(kept).not.toContain(first);
});
