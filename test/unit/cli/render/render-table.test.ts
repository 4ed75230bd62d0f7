import { expect, test } from 'vitest';
import { renderFields, renderTable } from '../../../../cli/render/render-table.ts';

test('aligns columns after Chinese, Japanese and Korean text, emoji and combining characters', () => {
  const names = ['plain', '部署', 'デプロイ', '배포', '🚀', '👩‍👩‍👧', 'e\u0301te\u0301'];
  expect(
    renderTable(
      ['NAME', 'STATE'],
      names.map(name => [name, 'queued']),
    ),
  ).toBe(`\
NAME      STATE
plain     queued
部署      queued
デプロイ  queued
배포      queued
🚀        queued
👩‍👩‍👧        queued
e\u0301te\u0301       queued
`);
});

test('aligns the values of fields whose names are wide', () => {
  expect(
    renderFields([
      ['部署', 'a'],
      ['name', 'b'],
      ['id', 'c'],
    ]),
  ).toBe('部署  a\nname  b\nid    c\n');
});

test('escapes control characters before it counts', () => {
  expect(renderTable(['A', 'B'], [['\u001b[31m', 'x']])).toBe('A         B\n\\x1b[31m  x\n');
});
