import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseFieldPath, readField, suggestFieldPath } from '../../../schema/field-path.ts';

const payload = { issue: { id: 7, 'odd "name"': 'x' }, items: [{ id: 1 }, { id: 2 }], zero: 0, none: null };

test.for([
  ['$.issue.id', 7],
  [String.raw`$.issue["odd \"name\""]`, 'x'],
  ['$["issue"].id', 7],
  ['$.items[1].id', 2],
  ['$.zero', 0],
  ['$.none', null],
  ['$.missing.id', undefined],
  ['$.issue[0]', undefined],
  ['$.items.length', undefined],
  ['$.items["0"]', undefined],
  ['$.items[2].id', undefined],
  ['$.issue.id.toFixed', undefined],
  ['$.constructor', undefined],
] as const)('%s reads %s', ([path, value]) => {
  const parsed = parseFieldPath(path);
  if (!parsed) throw new Error(`${path} is no path`);
  expect(readField(payload, parsed)).toBe(value);
});

test.for([
  ['issue.id', '$.issue.id'],
  ['.issue.id', '$.issue.id'],
  ['$issue.id', '$.issue.id'],
  ['payload.issue.id', '$.issue.id'],
  ['{{ issue.id }}', '$.issue.id'],
  [`\${{ event.issue.id }}`, '$.issue.id'],
  ['event.id', '$.event.id'],
  ['$.full-name', '$["full-name"]'],
  ["$['issue'].id", '$.issue.id'],
  ['$.items.0.id', '$.items[0].id'],
  ['$', undefined],
  ['', undefined],
  ['$.items[*].id', undefined],
  ['$..id', '$.id'],
] as const)('%s is no path, %s is', ([text, meant]) => {
  expect(parseFieldPath(text)).toBeUndefined();
  expect(suggestFieldPath(text)).toBe(meant);
});

test('what is suggested is a path, whatever was written', () => {
  let suggested = 0;
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'$.[]"\'a0_- *{}é\\') }), text => {
      const meant = suggestFieldPath(text);
      if (meant === undefined) return;
      suggested++;
      expect(parseFieldPath(meant)).toBeDefined();
    }),
  );
  expect(suggested).toBeGreaterThan(0);
});
