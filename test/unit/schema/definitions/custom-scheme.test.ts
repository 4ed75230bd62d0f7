import { describe, expect, it } from 'vitest';
import { type CustomScheme, customScheme } from '../../../../schema/definitions/custom-scheme.ts';
import { describeScheme } from '../../../../signatures/schemes.ts';
import { compileVerifier } from '../../../../signatures/verify.ts';
import { nowMs, received, vectors } from '../../signatures/received.ts';

describe('customScheme', () => {
  const plain: CustomScheme = { header: 'X-Signature', hash: 'sha256', encoding: 'hex', content: '{body}' };
  const list = { separator: ',', keyValueSeparator: '=', key: 'v1' };
  const header = { header: 'X-Time', unit: 's', toleranceSeconds: 300 };

  it.each([
    ['the required fields only', plain],
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
    ['an answer', { ...plain, answer: { status: 200, isEmpty: true } }],
    ['a key', { ...plain, key: { stripPrefix: 'whsec_', encoding: 'base64' } }],
  ])('accepts %s', (_, scheme) => {
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
    [
      'an unknown placeholder',
      { content: '{body}{nonce}' },
      'content',
      'content contains {nonce}, which is not a placeholder',
    ],
    ['an open brace', { content: '{body}{' }, 'content', 'content contains {, which is not a placeholder'],
    ['a character beyond ASCII', { content: '{body}é' }, 'content', 'content must be printable ASCII'],
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
      '{timestamp} is signed, but timestamp is missing',
    ],
    [
      'a tolerance without a timestamp',
      { timestamp: { unit: 's', toleranceSeconds: 300 } },
      'timestamp',
      'timestamp needs exactly one of header, field, item and body; it has none',
    ],
    [
      'two timestamps',
      { timestamp: { ...header, field: 't' } },
      'timestamp',
      'timestamp needs exactly one of header, field, item and body; it has 2',
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
      'timestamp.field works only if the signature header is a list with keys',
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
      '{id} is signed, but idHeader is missing',
    ],
    ['an unsigned id', { idHeader: 'X-Id' }, 'idHeader', 'X-Id is not signed'],
    ['a prefix in a list', { list, prefix: 'v1=' }, 'prefix', 'a signature in a list has no prefix'],
    ['an invalid header name', { header: 'X Signature' }, 'header', '"X Signature" is not a header name'],
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
    ['an unknown hash', { hash: 'md5' }],
    ['an empty window', { content: '{timestamp}{body}', timestamp: { ...header, toleranceSeconds: 0 } }],
    [
      'a window of a day',
      { content: '{timestamp}{body}', timestamp: { ...header, toleranceSeconds: 86_400 } },
    ],
    ['a missing window', { content: '{timestamp}{body}', timestamp: { header: 'X-Time', unit: 's' } }],
  ])('refuses %s', (_, fields) => {
    expect(customScheme.safeParse({ ...plain, ...fields }).success).toBe(false);
  });

  it('can describe a supported scheme', () => {
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
