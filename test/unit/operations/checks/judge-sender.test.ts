import { describe, expect, test } from 'vitest';
import { findNeededEvents, judgeSender, sendsTo } from '../../../../operations/checks/judge-sender.ts';
import type { ProviderHook, SenderState } from '../../../../schema/sender.ts';

const uid = 'wh_0123456789abcdefghijklmn';
const url = `https://hooks.example.com/webhooks/w/${uid}`;
const sender = { provider: 'github', repository: 'acme/shop', credentialSecret: 'HOOKS' } as const;
const webhook = { name: 'shop', signatureScheme: 'github', sender };
const right: ProviderHook = {
  ...{ id: '7', url, events: ['push'], isActive: true, disabledUntil: null },
  ...{ contentType: 'json', verifiesTls: true, hasSecret: true, lastAnswer: { status: 202, message: '' } },
};
const at = '2026-11-27T10:00:00.000Z';

function stateOf(hooks: readonly ProviderHook[], more: Partial<SenderState> = {}): SenderState {
  return {
    uid,
    checked: { at, hooks: [...hooks], problem: null },
    missed: null,
    asked: [],
    registering: null,
    ...more,
  };
}

function listen(...filters: readonly (Record<string, unknown> | undefined)[]) {
  const triggers = filters.map(headers => ({
    ...{ provider: 'webhook' as const, event: 'received' as const },
    filter: { webhook_ids: [uid], ...(headers && { headers }) },
  }));
  return [{ enabled: true, triggers }] as never;
}

function codesOf(state: SenderState, more: { automations?: never; refused?: string } = {}): string[] {
  const judged = { webhook, uid, url, automations: more.automations ?? [], state, refused: more.refused };
  return judgeSender(judged).map(({ severity, code }) => `${severity} ${code}`);
}

describe('a hook', () => {
  test('that is as the definition says has no finding', () => {
    expect(codesOf(stateOf([right]), { automations: listen({ 'X-GitHub-Event': ['push'] }) })).toEqual([]);
  });

  test.for<[string, Partial<ProviderHook>, string[]]>([
    ['of another webhook', { url: url.replace('0123', '9999') }, ['error url-differs']],
    ['under another public URL', { url: url.replace('hooks.', 'old.') }, ['warning url-differs']],
    ['that is not active', { isActive: false }, ['error inactive']],
    ['that the provider disabled', { isActive: false, disabledUntil: at }, ['error disabled']],
    ['that sends forms', { contentType: 'form' }, ['error content-type']],
    ['without a secret', { hasSecret: false }, ['error secret-missing']],
    ['of which the provider does not tell the secret', { hasSecret: null }, []],
    ['that verifies no certificate', { verifiesTls: false }, ['warning tls-off']],
    ['that got 500', { lastAnswer: { status: 500, message: 'oops' } }, ['warning last-answer']],
    ['that got no answer', { lastAnswer: { status: null, message: '' } }, ['warning last-answer']],
    ['that sends too little', { events: ['issues'] }, ['error events-missing', 'note events-unneeded']],
    ['that sends more', { events: ['issues', 'push'] }, ['note events-unneeded']],
    ['that sends everything', { events: ['*'] }, ['note events-unneeded']],
    ['with several mistakes', { verifiesTls: false, isActive: false }, ['error inactive', 'warning tls-off']],
  ])('%s is found, the worst first', ([, differs, expected]) => {
    const automations = listen({ 'X-GitHub-Event': ['push'] });
    expect(codesOf(stateOf([{ ...right, ...differs }]), { automations })).toEqual(expected);
  });

  test('is missing, or there are two', () => {
    expect(codesOf(stateOf([]))).toEqual(['error hook-missing']);
    expect(codesOf(stateOf([right, { ...right, id: '8' }]))).toEqual(['error hook-twice']);
  });

  test('has another secret if the newest delivery was refused', () => {
    expect(codesOf(stateOf([right]), { refused: 'the signature does not match' })).toEqual([
      'error secret-wrong',
    ]);
  });

  test('is judged by what was last known while its provider is down', () => {
    const problem = { code: 'unreachable', message: 'github does not answer', remedy: null };
    const known = { ...right, isActive: false };
    const checked = { at, hooks: [known], problem };
    expect(codesOf(stateOf([], { checked }))).toEqual(['error inactive', 'note provider-failed']);
    expect(codesOf(stateOf([], { checked: { ...checked, hooks: [] } }))).toEqual(['note provider-failed']);
  });

  test('of which nobody may ask is more than a note: only a person can change that', () => {
    const problem = { code: 'forbidden', message: 'the token lacks the right', remedy: null };
    expect(codesOf(stateOf([], { checked: { at, hooks: [], problem } }))).toEqual([
      'warning provider-failed',
    ]);
  });

  test('of which hookmill may not ask has the remedy of that cause', () => {
    const remedy = 'The operator adds it to `senders.urls`.';
    const problem = { code: 'unusable', message: 'the address may not get a credential', remedy };
    const state = stateOf([], { checked: { at, hooks: [], problem } });
    const findings = judgeSender({ webhook, uid, url, automations: [], state });
    expect(findings).toEqual([
      { code: 'provider-failed', severity: 'warning', message: problem.message, remedy },
    ]);
  });

  test('that the provider refuses to show is not one to try again later', () => {
    const problem = { code: 'refused', message: 'The answer is not one of its API.', remedy: null };
    const state = stateOf([], { checked: { at, hooks: [], problem } });
    const [finding] = judgeSender({ webhook, uid, url, automations: [], state });
    expect(finding).toMatchObject({
      severity: 'warning',
      remedy: expect.stringContaining('Correct `sender`'),
    });
  });

  test('was never looked at', () => {
    expect(codesOf(stateOf([], { checked: null }))).toEqual(['note never-checked']);
  });

  test('whose provider tried in vain says how often and when', () => {
    const missed = {
      ...{ at, since: at, nextSince: at, inVain: 0, lost: [], recovering: 0, problem: null },
      events: 9,
      attempts: 14,
      first: '2026-11-26T10:00:00Z',
      last: at,
    };
    const say = (inVain: number) => {
      const state = stateOf([right], { missed: { ...missed, inVain } });
      return judgeSender({ webhook, uid, url, automations: [], state }).map(({ message }) => message);
    };
    const said = `the provider tried 14 times to deliver 9 events between 2026-11-26T10:00:00Z and ${at}, which did not arrive`;
    expect(say(0)).toEqual([said]);
    expect(say(2)).toEqual([`${said}, 2 of them not even when asked for again`]);
    expect(say(9)).toEqual([`${said}, not even when asked for again`]);
    const lost = [
      { event: 'push', events: 2 },
      { event: 'issues', events: 1 },
    ];
    const forgotten = { ...missed, lost, events: 0, attempts: 0, first: null, last: null };
    const state = stateOf([right], { missed: forgotten });
    expect(judgeSender({ webhook, uid, url, automations: [], state }).map(({ message }) => message)).toEqual([
      'the provider has forgotten events that did not arrive when asked for again: 2 push, 1 issues',
    ]);
  });
});

describe('the events that automations need', () => {
  test.for<[string, never, string[] | undefined]>([
    [
      'of all triggers',
      listen({ 'X-GitHub-Event': ['push'] }, { 'x-github-event': { in: ['issues'] } }),
      ['issues', 'push'],
    ],
    ['are unknown if a trigger takes any', listen({ 'X-GitHub-Event': ['push'] }, undefined), undefined],
    [
      'are unknown if a trigger only excludes some',
      listen({ 'X-GitHub-Event': { not_in: ['push'] } }),
      undefined,
    ],
    ['are unknown if none listens', [] as never, undefined],
  ])('%s', ([, automations, expected]) => {
    expect(findNeededEvents(webhook, uid, automations)).toEqual(expected);
  });

  test('are not those of disabled automations', () => {
    const [automation] = listen({ 'X-GitHub-Event': ['issues'] }) as { enabled: boolean }[];
    const automations = [
      ...listen({ 'X-GitHub-Event': ['push'] }),
      { ...automation, enabled: false },
    ] as never;
    expect(findNeededEvents(webhook, uid, automations)).toEqual(['push']);
  });
});

test.for<[string, boolean]>([
  [url, true],
  [`${url}/`, true],
  [`http://127.0.0.1:8080/webhooks/w/${uid}`, true],
  [`https://proxy.example.com/hooks/webhooks/w/${uid}`, true],
  [`${url}x`, false],
  [`https://evil.example.com/?x=/webhooks/w/${uid}`, false],
  ['not a URL', false],
])('a hook with the URL %s sends to the webhook: %s', ([given, expected]) => {
  expect(sendsTo({ url: given }, uid)).toBe(expected);
});
