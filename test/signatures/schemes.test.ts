import { describe, expect, it } from 'vitest';
import { parseTemplate } from '../../signatures/content.ts';
import {
  type CustomScheme,
  customScheme,
  describeScheme,
  findScheme,
  schemeIds,
  schemes,
} from '../../signatures/schemes.ts';
import { signatureAgeSecondsMax } from '../../signatures/timestamp.ts';
import { compileVerifier } from '../../signatures/verify.ts';
import { nowMs, received, vectors } from './received.ts';

describe('the table', () => {
  it('has each id once, in the form that definitions write', () => {
    expect(new Set(schemeIds).size).toBe(schemeIds.length);
    for (const id of schemeIds) expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  it('finds schemes by their id alone', () => {
    for (const scheme of schemes) expect(findScheme(scheme.id)).toBe(scheme);
    for (const id of ['GitHub', 'github ', '__proto__', 'constructor', '']) {
      expect(findScheme(id)).toBeUndefined();
    }
  });

  it.each(schemes)('$id signs the body, and what its content names it also reads', scheme => {
    if (scheme.primitive === 'shared-secret' || typeof scheme.content !== 'string') return;
    const template = parseTemplate(scheme.content);
    const placeholders = template.ok ? template.placeholders : new Set();
    expect(placeholders).toContain('body');
    expect(placeholders.has('id')).toBe(scheme.idHeader !== undefined);
    expect(placeholders.has('timestamp')).toBe(
      scheme.timestamp !== undefined && scheme.timestamp.body === undefined,
    );
  });

  it.each(schemes)('$id has its timestamp in one place', scheme => {
    if (scheme.primitive === 'shared-secret' || !scheme.timestamp) return;
    const { header, field, body } = scheme.timestamp;
    expect([header, field, body].filter(place => place !== undefined)).toHaveLength(1);
    if (field !== undefined) expect(scheme.list).toBeDefined();
  });

  it.each(schemes.filter(({ kind }) => kind === 'payment' || kind === 'standard'))(
    '$id accepts a signed timestamp for five minutes',
    scheme => {
      if (scheme.primitive === 'shared-secret' || !scheme.timestamp) return;
      expect(scheme.timestamp.toleranceSeconds).toBe(signatureAgeSecondsMax);
    },
  );
});

describe('customScheme', () => {
  const plain: CustomScheme = { header: 'X-Signature', hash: 'sha256', encoding: 'hex', content: '{body}' };
  const list = { separator: ',', keyValueSeparator: '=', key: 'v1' };
  const header = { header: 'X-Time', unit: 's', toleranceSeconds: 300 };

  it.each([
    ['the least', plain],
    [
      'a list',
      {
        ...plain,
        list,
        content: '{timestamp}.{body}',
        timestamp: { ...header, header: undefined, field: 't' },
      },
    ],
    [
      'a timestamp in the body',
      { ...plain, timestamp: { body: 'event.at', unit: 'ms', toleranceSeconds: 60 } },
    ],
    [
      'everything signed',
      { ...plain, idHeader: 'X-Id', timestamp: header, content: '{method}{url}{id}{timestamp}\n{body}' },
    ],
    ['a key', { ...plain, key: { stripPrefix: 'whsec_', encoding: 'base64' } }],
  ])('takes %s', (_, scheme) => {
    const written: unknown = JSON.parse(JSON.stringify(scheme));
    expect(customScheme.parse(written)).toEqual(written);
  });

  it.each<[string, object, string, string]>([
    [
      'a template without the body',
      { content: '{timestamp}', timestamp: header },
      'content',
      'the signature does not cover the body',
    ],
    ['an unknown placeholder', { content: '{body}{nonce}' }, 'content', 'content cannot have {nonce}'],
    ['an open brace', { content: '{body}{' }, 'content', 'content cannot have {'],
    [
      'a character beyond ASCII',
      { content: '{body}é' },
      'content',
      'content holds characters other than printable ASCII',
    ],
    [
      'a template that is too long',
      { content: `{body}${'.'.repeat(251)}` },
      'content',
      'content is longer than 256 characters',
    ],
    [
      'a timestamp signed but not named',
      { content: '{timestamp}{body}' },
      'content',
      '{timestamp} is signed, but nothing says where it stands',
    ],
    [
      'a tolerance without a timestamp',
      { timestamp: { unit: 's', toleranceSeconds: 300 } },
      'timestamp',
      'toleranceSeconds needs the one place where the timestamp stands, and none is named',
    ],
    [
      'two timestamps',
      { timestamp: { ...header, field: 't' } },
      'timestamp',
      'toleranceSeconds needs the one place where the timestamp stands, and 2 are named',
    ],
    [
      'an unsigned timestamp',
      { timestamp: header },
      'timestamp',
      'the timestamp is not signed, so it proves nothing',
    ],
    [
      'a field without a list',
      { content: '{timestamp}{body}', timestamp: { field: 't', unit: 's', toleranceSeconds: 300 } },
      'timestamp.field',
      'a field needs a signature that is a list',
    ],
    [
      'a timestamp in the body that is signed again',
      { content: '{timestamp}{body}', timestamp: { body: 'at', unit: 's', toleranceSeconds: 300 } },
      'content',
      'a timestamp in the body is signed with the body, not as {timestamp}',
    ],
    [
      'an id signed but not named',
      { content: '{id}{body}' },
      'content',
      '{id} is signed, but no header holds it',
    ],
    ['an unsigned id', { idHeader: 'X-Id' }, 'idHeader', 'X-Id is not signed'],
    ['a prefix in a list', { list, prefix: 'v1=' }, 'prefix', 'a signature in a list has no prefix'],
    ['a header name that is none', { header: 'X Signature' }, 'header', '"X Signature" is not a header name'],
    ['an empty separator', { list: { ...list, separator: '' } }, 'list.separator', '"" is not a separator'],
  ])('refuses %s', (_, fields, path, message) => {
    const issues = customScheme.safeParse({ ...plain, ...fields }).error?.issues ?? [];
    expect(issues.map(issue => [issue.path.join('.'), issue.message])).toContainEqual([path, message]);
    for (const issue of issues) {
      expect(issue).toHaveProperty('params.code', 'webhook/scheme-invalid');
      expect(issue).toHaveProperty('params.hint', expect.stringMatching(/./));
    }
  });

  it.each<[string, object]>([
    ['an unknown field', { tolerance: 300 }],
    ['a hash that is none', { hash: 'md5' }],
    [
      'a window of no length',
      { content: '{timestamp}{body}', timestamp: { ...header, toleranceSeconds: 0 } },
    ],
    [
      'a window of a day',
      { content: '{timestamp}{body}', timestamp: { ...header, toleranceSeconds: 86_400 } },
    ],
    [
      'a window that is not said',
      { content: '{timestamp}{body}', timestamp: { header: 'X-Time', unit: 's' } },
    ],
  ])('refuses %s', (_, fields) => {
    expect(customScheme.safeParse({ ...plain, ...fields }).success).toBe(false);
  });

  it('can say again what a shipped scheme says', () => {
    const written = customScheme.parse({
      header: 'Stripe-Signature',
      hash: 'sha256',
      encoding: 'hex',
      list: { separator: ',', keyValueSeparator: '=', key: 'v1' },
      content: '{timestamp}.{body}',
      timestamp: { field: 't', unit: 's', toleranceSeconds: 300 },
    });
    const description = describeScheme(written);
    for (const vector of vectors.filter(({ scheme }) => scheme === 'stripe')) {
      const verify = description && compileVerifier(description, vector.secret);
      const result = verify?.(received(vector.headers, vector.body), vector.nowMs ?? nowMs);
      expect(result?.ok).toBe(vector.valid);
    }
  });
});
