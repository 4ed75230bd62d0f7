import { expect, test } from 'vitest';
import { findYamlCursor } from '../../../../dashboard/state/yaml-cursor.ts';

const above = `prompt: |
  Say what to do: now.
triggers:
  - provider: webhook
    event: received
    filter:
      # The main one.
      webhook: deploys
      payload:
`;

test.for<[typed: string, path: string, at: 'key' | 'value', word: string]>([
  ['ti', '', 'key', 'ti'],
  ['timeLimit: 1', 'timeLimit', 'value', '1'],
  ['notify: [fai', 'notify.[]', 'value', 'fai'],
  ['notify: [failed, su', 'notify.[]', 'value', 'su'],
  ['notify:\n  - fai', 'notify.[]', 'key', 'fai'],
  ['notify:\n- fai', 'notify.[]', 'key', 'fai'],
  ['debounce:\n  k', 'debounce', 'key', 'k'],
  ['debounce: { k', 'debounce', 'key', 'k'],
  ['debounce: { for: 3s, key: $', 'debounce.key', 'value', '$'],
])('at the top, %j is at %s', ([typed, path, at, word]) => {
  const text = `attempts: 3\n${typed}`;
  const found = findYamlCursor(text, text.length);
  expect({ ...found, path: found.path.join('.') }).toMatchObject({ path, at, word });
  expect(text.slice(found.from)).toBe(word);
});

test.for<[typed: string, path: string, at: 'key' | 'value', word: string]>([
  ['        ', 'triggers.[].filter.payload', 'key', ''],
  ['        act', 'triggers.[].filter.payload', 'key', 'act'],
  ['        action: op', 'triggers.[].filter.payload.action', 'value', 'op'],
  ['        action: [op', 'triggers.[].filter.payload.action.[]', 'value', 'op'],
  ['        action: [opened, "cl', 'triggers.[].filter.payload.action.[]', 'value', 'cl'],
  ['        action:\n          - op', 'triggers.[].filter.payload.action.[]', 'key', 'op'],
  ['        issue:\n          level: { not', 'triggers.[].filter.payload.issue.level', 'key', 'not'],
  ['        level: { not_in: [de', 'triggers.[].filter.payload.level.not_in.[]', 'value', 'de'],
  ['        "odd name": [x', 'triggers.[].filter.payload.odd name.[]', 'value', 'x'],
  ['      hea', 'triggers.[].filter', 'key', 'hea'],
  ['    ev', 'triggers.[]', 'key', 'ev'],
  ['  - pro', 'triggers.[]', 'key', 'pro'],
  ['  - provider: we', 'triggers.[].provider', 'value', 'we'],
  ['con', '', 'key', 'con'],
])('below a trigger, %j is at %s', ([typed, path, at, word]) => {
  const text = above + typed;
  const found = findYamlCursor(`${text}\nattempts: 3`, text.length);
  expect({ ...found, path: found.path.join('.') }).toMatchObject({ path, at, word });
});

test('a text that goes on after the cursor is not read', () => {
  const text = 'concurrency: 1\n';
  expect(findYamlCursor(text, 3)).toMatchObject({ path: [], at: 'key', from: 0, word: 'con' });
});
