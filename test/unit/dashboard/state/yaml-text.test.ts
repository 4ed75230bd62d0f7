import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { removeFromYaml, setInYaml } from '../../../../dashboard/state/yaml-text.ts';

const written = `# Deploys that failed.
prompt: |
  Find out why.

  Say what to do.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: deploys # the main one
      payload:
        action: [failed] # only these
timeLimit: 10m  # enough

# How often.
attempts: 3
backOff:
  first: 30s
`;

test.for<[name: string, path: (string | number)[], value: unknown, from: string, to: string]>([
  ['a value', ['attempts'], 5, 'attempts: 3', 'attempts: 5'],
  ['a value with a comment', ['timeLimit'], '2h', '10m  # enough', '2h # enough'],
  ['a list', ['triggers', 0, 'filter', 'payload', 'action'], ['a', 'b'], '[failed] #', '[a, b] #'],
  ['a key below', ['backOff', 'max'], '5m', '  first: 30s\n', '  first: 30s\n  max: 5m\n'],
  ['a new key', ['order'], '$.id', '  first: 30s\n', '  first: 30s\norder: $.id\n'],
  [
    'a key after a comment',
    ['triggers', 0, 'filter', 'payload', 'on', 'branch'],
    ['main'],
    '[failed] # only these\n',
    '[failed] # only these\n        on:\n          branch: [main]\n',
  ],
  ['an operator', ['debounce', 'for'], '30s', '  first: 30s\n', '  first: 30s\ndebounce: { for: 30s }\n'],
])('sets %s, and leaves everything else as it was', ([, path, value, from, to]) => {
  expect(setInYaml(written, path, value)).toBe(written.replace(from, to));
});

test.for<[name: string, path: (string | number)[], from: string]>([
  ['a key', ['attempts'], 'attempts: 3\n'],
  ['a key with its comment', ['timeLimit'], 'timeLimit: 10m  # enough\n'],
  ['the only key of a mapping', ['backOff', 'first'], 'backOff:\n  first: 30s\n'],
])('removes %s, and leaves everything else as it was', ([, path, from]) => {
  expect(removeFromYaml(written, path)).toBe(written.replace(from, ''));
});

test.for<[text: string, path: (string | number)[], value: unknown, expected: string]>([
  ['', ['attempts'], 3, 'attempts: 3\n'],
  ['# Only a comment', ['attempts'], 3, '# Only a comment\nattempts: 3\n'],
  ['a:\n', ['a', 'b', 'c'], [1], 'a:\n  b:\n    c: [1]\n'],
  ['a: { b: 1 }', ['a', 'c'], 2, 'a: { b: 1, c: 2 }'],
  ['a: [{ b: 1 }]', ['a', 0, 'b'], 2, 'a: [{ b: 2 }]'],
  ['notify:\n  - failed\n', ['notify'], ['succeeded'], 'notify: [succeeded]\n'],
  ['a:\n  - b: 1\nc: 2', ['a', 0, 'd'], 3, 'a:\n  - b: 1\n    d: 3\nc: 2'],
])('writes %j with another value', ([text, path, value, expected]) => {
  expect(setInYaml(text, path, value)).toBe(expected);
});

test('a text that is no mapping is not edited', () => {
  for (const text of ['a: [', '- a\n', 'word', 'a: 1\na: 2']) {
    expect(setInYaml(text, ['b'], 1)).toBeUndefined();
    expect(removeFromYaml(text, ['b'])).toBeUndefined();
  }
});

test('whatever is set is read, and whatever is removed is gone, and the rest is the same', () => {
  const name = fc.constantFrom('a', 'b', 'odd name', '$.x', 'true');
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const { map } = fc.letrec(tie => ({
    map: fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(scalar, { maxLength: 2 }), tie('map')),
  }));
  const path = fc.array(name, { minLength: 1, maxLength: 3 });
  const set = (value: unknown, [key = '', ...rest]: string[], to: unknown): object => {
    const known = typeof value === 'object' && !Array.isArray(value) ? value : {};
    const below = rest.length === 0 ? to : set((known as Record<string, unknown>)?.[key], rest, to);
    return { ...known, [key]: below };
  };
  fc.assert(
    fc.property(map, path, scalar, (value, at, to) => {
      const text = stringify(value, { aliasDuplicateObjects: false });
      const changed = setInYaml(text, at, to) ?? '';
      expect(parse(changed)).toEqual(set(value, at, to));
      expect(parse(removeFromYaml(changed, at) ?? '') ?? {}).not.toHaveProperty(at);
    }),
  );
});
