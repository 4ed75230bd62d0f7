import { describe, expect, test } from 'vitest';
import { type PlannedHook, planHook } from '../../../../operations/senders/plan-hook.ts';
import { requireReachable } from '../../../../operations/senders/register-sender.ts';
import type { ProviderHook } from '../../../../schema/sender.ts';

const uid = 'wh_0123456789abcdefghijklmn';
const url = `https://hooks.example.com/webhooks/w/${uid}`;
const repository = { provider: 'github', repository: 'acme/shop', credentialSecret: 'HOOKS' } as const;
const app = { provider: 'github', app: 7, credentialSecret: 'HOOKS' } as const;
const project = { provider: 'gitlab', project: 'acme/shop', credentialSecret: 'HOOKS' } as const;
const right: ProviderHook = {
  ...{ id: '7', url, events: ['push'], isActive: true, disabledUntil: null },
  ...{ contentType: 'json', verifiesTls: true, hasSecret: true, lastAnswer: null },
};

function plan(given: Partial<Omit<PlannedHook, 'webhook'>> & { sender?: object; webhook?: object } = {}) {
  const {
    sender = repository,
    webhook,
    waitedFor,
    ...rest
  } = given as typeof given & { waitedFor?: unknown };
  const signatureScheme = 'provider' in sender && sender.provider === 'gitlab' ? 'gitlab-token' : 'github';
  const named = { name: 'shop', uid, secretName: 'SHOP_WEBHOOK', signatureScheme, sender, ...webhook };
  const filter = { webhook_ids: [uid], headers: { 'X-GitHub-Event': waitedFor } };
  const automations = waitedFor ? [{ enabled: true, triggers: [{ filter }] }] : [];
  return planHook({
    ...{ webhook: named, url, automations, hooks: [right], events: [], setsSecret: false },
    ...rest,
  } as unknown as PlannedHook);
}

describe('a hook', () => {
  test('that is right does not change, unless its secret is set', () => {
    expect(plan().changes).toEqual([]);
    const set = { field: 'secret', before: 'set', after: 'set to the value of SHOP_WEBHOOK' };
    expect(plan({ setsSecret: true }).changes).toEqual([set]);
    const unknown = [{ ...right, hasSecret: null }];
    expect(plan({ setsSecret: true, hooks: unknown }).changes).toEqual([{ ...set, before: 'unknown' }]);
  });

  test('of which anything changes gets the secret, which the provider may drop', () => {
    const { changes } = plan({ hooks: [{ ...right, verifiesTls: false }] });
    expect(changes.map(({ field }) => field)).toEqual(['tls', 'secret']);
  });

  test('is found by the UID under any public URL, and never one of another webhook', () => {
    const moved = { ...right, url: `http://old.example/hooks/webhooks/w/${uid}/` };
    const foreign = { ...right, id: '8', url: url.replace('0123', '9999') };
    expect(plan({ hooks: [foreign, moved] })).toMatchObject({ hook: moved, wanted: { url } });
    expect(plan({ hooks: [foreign], events: ['push'] }).hook).toBeUndefined();
  });

  test('that the definition names is the one, whatever its URL, unless another sends to the webhook', () => {
    const named = { ...right, id: '9', url: 'https://proxy.example/' };
    const sender = { ...repository, hookId: 9 };
    expect(plan({ sender, hooks: [named] }).hook).toBe(named);
    expect(() => plan({ sender, hooks: [named, right] })).toThrow(
      /2 hooks .* send to the webhook shop: 9, 7;/,
    );
    expect(() => plan({ sender, hooks: [right] })).toThrow(/has no hook 9; remove hookId/);
  });

  test.for<[string, object, readonly string[]]>([
    ['those that automations wait for', { waitedFor: ['release', 'push'] }, ['push', 'release']],
    ['these and others that are named', { waitedFor: ['push'], events: ['issues'] }, ['issues', 'push']],
    ['its own if automations take any', {}, ['push']],
    ['those that are named if automations take any', { events: ['issues'] }, ['issues']],
    ['all if they are named', { waitedFor: ['push'], events: ['*'] }, ['*']],
    ['no ping, which GitHub sends to each hook', { waitedFor: ['ping', 'push'] }, ['push']],
  ])('gets as its events %s', ([, given, events]) => {
    expect(plan(given).wanted.events).toEqual(events);
  });

  test('is not created without events, nor with all of GitLab', () => {
    expect(() => plan({ hooks: [] })).toThrow(
      /name them with --event, or filter by the header X-GitHub-Event/,
    );
    expect(() => plan({ hooks: [], sender: project })).toThrow(/by the header X-Gitlab-Event/);
    expect(() => plan({ hooks: [], sender: project, events: ['*'] })).toThrow(/GitLab has no event \*/);
  });

  test('of an app is changed, and what only its settings page can do is said', () => {
    const hook = { ...right, id: 'app', url: 'https://old.example/' };
    const events = ['installation', 'push'];
    expect(plan({ sender: app, hooks: [{ ...hook, events }] })).toMatchObject({ wanted: { url, events } });
    expect(() => plan({ sender: app, hooks: [] })).toThrow(/set its URL and a secret on the settings page/);
    expect(() => plan({ sender: app, hooks: [hook], events: ['issues'] })).toThrow(/does not send issues/);
  });

  test('of GitLab cannot send forms', () => {
    const webhook = { bodyFormat: 'form' };
    expect(() => plan({ sender: project, webhook })).toThrow(/GitLab sends only JSON/);
    expect(plan({ webhook }).wanted.contentType).toBe('form');
  });
});

describe('the ingress URL', () => {
  test.for([
    'http://127.0.0.1:8080/webhooks/w/x',
    'https://10.1.2.3/x',
    'https://192.168.0.1/x',
    'https://[::1]/x',
    'https://[fd00::1]/x',
    'https://[::ffff:10.0.0.1]/x',
    'https://169.254.169.254/x',
    'https://198.18.0.1/x',
    'https://[fec0::1]/x',
    'https://localhost/x',
    'https://hooks/x',
    'https://hooks.local/x',
    'https://hooks.internal./x',
  ])('%s cannot be reached from the internet', address => {
    expect(() => requireReachable(address, { sender: repository })).toThrow(
      /cannot be reached by github; set --base-url/,
    );
    expect(() =>
      requireReachable(address, { sender: { ...repository, url: 'https://git.example.com' } }),
    ).not.toThrow();
  });

  test('must have https on the internet', () => {
    expect(() => requireReachable('http://hooks.example.com/x', { sender: repository })).toThrow(
      /has no https/,
    );
    for (const address of ['https://hooks.example.com/x', 'https://8.8.8.8/x', 'https://[2606:4700::1]/x'])
      expect(() => requireReachable(address, { sender: repository })).not.toThrow();
  });
});
