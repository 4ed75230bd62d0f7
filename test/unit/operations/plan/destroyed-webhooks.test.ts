import { expect, test } from 'vitest';
import {
  declineFormers,
  type Formers,
  findFormers,
  keepDestroyed,
} from '../../../../operations/plan/destroyed-webhooks.ts';
import {
  type AppliedState,
  type AppliedWebhook,
  emptyAppliedState,
} from '../../../../schema/applied-state.ts';
import { Refusal } from '../../../../schema/refusal.ts';
import { dayMs } from '../../../../schema/time-units.ts';

const destroyedAt = new Date('2026-03-01T00:00:00Z');
const custom = { header: 'X-S', hash: 'sha256', encoding: 'hex', content: '{body}' } as const;

/** A definition; the values that are not given are those of a webhook with a token. */
function define(keys: Partial<AppliedWebhook> = {}) {
  return { name: 'pay', authMode: 'token', secretName: 'A', enabled: true, ...keys } as const;
}

const oidc = { authMode: 'oidc', secretName: undefined, issuer: 'gitlab', claims: { sub: ['a'] } } as const;

/** The state after webhooks with these keys were destroyed. Version v1 of the team secret was in force. */
function destroy(...all: readonly Partial<AppliedWebhook>[]): AppliedState {
  const webhooks = all.map((keys, index): AppliedWebhook => {
    const credential = { kind: 'digest', secretVersion: 'v1', sha256: 'a'.repeat(64) } as const;
    const uid = `wh_${String(index).padStart(24, '0')}`;
    return { uid, createdAt: '2026-01-01T00:00:00Z', credential, ...define(keys) };
  });
  return keepDestroyed(emptyAppliedState('default'), webhooks, destroyedAt);
}

/** Finds what becomes of a definition: the last digit of the former UID, or why its URL is new. */
function find(
  state: AppliedState,
  keys: Partial<AppliedWebhook>,
  version = 'v1',
  days = 29,
): string | undefined {
  const secret = { name: 'A', value: { version, text: 'x' } };
  const nowMs = destroyedAt.getTime() + days * dayMs;
  const formers = findFormers(state, [define(keys)], new Map([['A', secret]]), nowMs);
  const found = formers.get(keys.name ?? 'pay');
  return found && ('former' in found ? found.former.uid.slice(-1) : found.notRestored);
}

const isNew = (keys: string) => `its URL is new: ${keys} changed since it was destroyed`;

test.for<[Partial<AppliedWebhook>, Partial<AppliedWebhook>, string | undefined]>([
  [{}, {}, '0'],
  [{}, { enabled: false, deliveryIdHeader: 'X-Id' }, '0'],
  [{}, { name: 'other' }, undefined],
  [{}, { secretName: 'B' }, isNew('secretName')],
  [{}, { authMode: 'signature', signatureScheme: 'github' }, isNew('authMode and signatureScheme')],
  [{ signatureScheme: custom }, { signatureScheme: custom }, '0'],
  [
    { signatureScheme: custom },
    { signatureScheme: { ...custom, encoding: 'base64' } },
    isNew('signatureScheme'),
  ],
  [oidc, oidc, '0'],
  [oidc, { ...oidc, issuer: 'github-actions' }, isNew('issuer')],
  [oidc, { ...oidc, audience: 'https://a.example' }, isNew('audience')],
  [oidc, { ...oidc, claims: { sub: ['b'] } }, isNew('claims')],
])('%j that comes back as %j: %s', ([before, after, expected]) => {
  expect(find(destroy(before), after)).toBe(expected);
});

test('only a token in the URL must have the same value', () => {
  expect(find(destroy({}), {}, 'v2')).toBe('0');
  const inUrl = { authMode: 'url_token' } as const;
  expect(find(destroy(inUrl), inUrl)).toBe('0');
  expect(find(destroy(inUrl), inUrl, 'v2')).toBe(
    'its URL is new: the token in its former URL has been replaced',
  );
  const unread = new Map([['A', { name: 'A', isUnread: true } as const]]);
  const found = findFormers(destroy(inUrl), [define(inUrl)], unread, destroyedAt.getTime());
  expect(found.get('pay')).toHaveProperty('former');
});

test('for 30 days', () => {
  expect(find(destroy({}), {}, 'v1', 30 - 1e-6)).toBe('0');
  expect(find(destroy({}), {}, 'v1', 30)).toBeUndefined();
});

test('the last one of its name that authenticated its senders in the same way', () => {
  const state = destroy({ secretName: 'B' }, {}, { authMode: 'signature', signatureScheme: 'github' }, {});
  expect(find(state, {})).toBe('1');
  expect(find(state, { secretName: 'B' })).toBe('0');
  expect(find(state, { secretName: 'C' })).toBe(isNew('secretName'));
});

test('not while a webhook of its name is applied', () => {
  const webhooks = [{ ...define({ secretName: 'B' }), uid: 'wh_b', credential: { kind: 'unset' } as const }];
  expect(find({ ...destroy({}), webhooks }, {})).toBeUndefined();
});

test('keeps nothing that authenticates a sender', () => {
  const sealed = { kind: 'sealed', secretVersion: 'v1', jwe: 'ey' } as const;
  expect(destroy({}, { name: 'b', credential: sealed }).destroyed).toEqual([
    {
      ...{ name: 'pay', uid: `wh_${'0'.repeat(24)}`, createdAt: '2026-01-01T00:00:00Z' },
      ...{ authMode: 'token', secretName: 'A', destroyedAt: destroyedAt.toISOString() },
    },
    expect.not.objectContaining({ secretVersion: expect.anything(), credential: expect.anything() }),
  ]);
  expect(destroy({ authMode: 'url_token' }).destroyed).toMatchObject([{ secretVersion: 'v1' }]);
});

test('forgets what is too old, what a webhook replaces, and the oldest above 100', () => {
  const state = destroy({}, { name: 'other' });
  const webhook = { ...define(), uid: 'wh_new', credential: { kind: 'unset' } as const };
  const names = (state: AppliedState) => state.destroyed?.map(({ name }) => name);
  expect(names(keepDestroyed({ ...state, webhooks: [webhook] }, [], destroyedAt))).toEqual(['other']);
  const later = new Date(destroyedAt.getTime() + 30 * dayMs);
  expect(keepDestroyed(state, [], later)).not.toHaveProperty('destroyed');
  const many = Array.from({ length: 100 }, (_, index) => ({ ...webhook, name: `w${index}` }));
  expect(names(keepDestroyed(state, many, destroyedAt))).toEqual(many.map(({ name }) => name));
});

test('gives a new UID on request, and refuses that of a webhook that has no former one', () => {
  const state = destroy({});
  const formers: Formers = findFormers(state, [define()], new Map(), destroyedAt.getTime());
  expect(declineFormers(formers, ['pay']).get('pay')).toEqual({
    notRestored: 'its URL is new, as requested',
  });
  const decline = () => declineFormers(formers, ['pay', 'other']);
  expect(decline).toThrow(Refusal);
  expect(decline).toThrow(expect.objectContaining({ code: 'request-invalid' }));
});
