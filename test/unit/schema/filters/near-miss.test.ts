import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FilterValue } from '../../../../schema/filters/clause.ts';
import { findNearMiss, repairClause } from '../../../../schema/filters/near-miss.ts';
import { examineClauses, examineHeaders } from '../../../../schema/filters/payload-filter-explain.ts';
import { compileClause, compilePayloadFilter } from '../../../../schema/filters/payload-filter-match.ts';
import { filters, payloads } from './payload-filter-arbitraries.ts';

function examine(condition: FilterValue, found: unknown) {
  const [examined] = examineClauses({ field: condition }, { field: found });
  if (!examined) throw new Error('the filter has no clause');
  return examined;
}

/** The list with the repair; undefined if the value is no near miss. */
function repair(condition: FilterValue, found: unknown, isKept = false): unknown {
  const { clause } = examine(condition, found);
  const near = findNearMiss(examine(condition, found))?.repair;
  const repaired = near && repairClause(clause, near, isKept);
  return repaired && 'values' in repaired ? repaired.values : undefined;
}

describe('findNearMiss', () => {
  it.each<[string, FilterValue, unknown, unknown, string]>([
    [
      'case',
      ['Main', 'dev'],
      'main',
      ['main', 'dev'],
      '"Main" and "main" differ only in upper and lower case',
    ],
    ['white space', ['a b'], ' a  b ', [' a  b '], '"a b" and " a  b " differ only in white space'],
    ['a string for a number', [1, 2], '1', ['1', 2], '1 and "1" are of different types'],
    ['a number for a string', ['1'], 1, [1], '"1" and 1 are of different types'],
    ['a string for a boolean', [true], 'true', ['true'], 'true and "true" are of different types'],
    [
      'a prefix',
      ['main'],
      'refs/heads/main',
      ['refs/heads/main'],
      '"main" and "refs/heads/main" differ only in what comes before or after',
    ],
    [
      'a prefix that only the filter has',
      ['refs/heads/main'],
      'main',
      ['main'],
      '"refs/heads/main" and "main" differ only in what comes before or after',
    ],
    [
      'a suffix',
      ['application/json'],
      'application/json:v2',
      ['application/json:v2'],
      '"application/json" and "application/json:v2" differ only in what comes before or after',
    ],
    ['a slip', ['synchronise'], 'synchronize', ['synchronize'], '"synchronize" is similar to "synchronise"'],
    [
      'a value that the list lacks',
      ['opened', 'closed'],
      'reopened',
      ['opened', 'reopened', 'closed'],
      'the list has "opened", but not "reopened"',
    ],
    [
      'one of several elements',
      ['bug'],
      ['docs', 'Bug'],
      ['Bug'],
      '"bug" and "Bug" differ only in upper and lower case',
    ],
    [
      'the case of a pattern',
      { $like: ['Refs/*/V\\**'] },
      'refs/tags/v*1',
      ['refs/*/v\\**'],
      '"Refs/*/V\\\\**" differs only in upper and lower case',
    ],
    [
      'the case of the end of a pattern',
      { $like: ['V*A'] },
      'vA1a',
      ['v*a'],
      '"V*A" differs only in upper and lower case',
    ],
    [
      'a part of the text',
      { $like: ['tags/*'] },
      'refs/tags/1',
      ['*tags/*'],
      '"tags/*" is only a part of the text, which "*tags/*" would match',
    ],
  ])('repairs %s', (_, condition, found, values, note) => {
    expect(repair(condition, found)).toEqual(values);
    expect(findNearMiss(examine(condition, found))?.note).toBe(note);
  });

  it('keeps a value that other deliveries have', () => {
    expect(repair(['main', 'dev'], 'refs/heads/main', true)).toEqual(['main', 'refs/heads/main', 'dev']);
  });

  it('takes the surest likeness, wherever the values stand', () => {
    expect(repair(['v12', 'v1.2'], 'V12')).toEqual(['V12', 'v1.2']);
    expect(repair([2, 'main'], ['mains', '2'])).toEqual(['2', 'main']);
  });

  it('says of a range only that a text is no number', () => {
    expect(findNearMiss(examine({ $compare: { above: 5 } }, '7'))).toEqual({
      note: 'only numbers are compared, and "7" is a string',
    });
    expect(findNearMiss(examine({ $compare: { above: 5 } }, '3'))).toBeUndefined();
  });

  it.each<[FilterValue, unknown]>([
    [['main'], 'develop'],
    [['main'], undefined],
    [['main'], null],
    [['main'], ''],
    [['v1'], 'v2'],
    [['push'], 'pushed_to_another_branch'],
    [['1'], 11],
    [['main'], { name: 'main' }],
    [['main'], [['main']]],
    [{ not_in: ['Main'] }, 'Main'],
    [{ $not_like: ['ma*'] }, 'main'],
    [{ exists: false }, null],
    [{ $like: ['v*'] }, 1],
    [{ $like: ['v1*'] }, 'w2'],
    [['a'.repeat(300)], 'A'.repeat(300)],
  ])('takes no other value for a near miss: %j and %j', (condition, found) => {
    expect(findNearMiss(examine(condition, found))).toBeUndefined();
  });

  it('repairs a header, in any case of its name', () => {
    const [examined] = examineHeaders({ 'X-GitHub-Event': ['Push'] }, { 'x-github-event': 'push' });
    expect(examined && findNearMiss(examined)?.repair).toMatchObject({ from: 'Push', to: 'push' });
  });

  it('suggests only what lets the clause hold', () => {
    fc.assert(
      fc.property(filters, payloads, (filter, payload) => {
        for (const examined of examineClauses(filter, payload)) {
          if (examined.holds) continue;
          const { clause, found, readNumber } = examined;
          const near = findNearMiss(examined)?.repair;
          for (const isKept of near ? [true, false] : [])
            if (near) expect(compileClause(repairClause(clause, near, isKept), readNumber)(found)).toBe(true);
        }
      }),
    );
  });
});

describe('examineClauses', () => {
  it('examines the same clauses whatever the payload is, which all hold if and only if it matches', () => {
    fc.assert(
      fc.property(filters, payloads, (filter, payload) => {
        const examined = examineClauses(filter, payload);
        expect(examined.every(({ holds }) => holds)).toBe(compilePayloadFilter(filter)(payload));
        const names = (value: unknown) => examineClauses(filter, value).map(({ keys }) => keys);
        expect(names(payload)).toEqual(names(undefined));
      }),
    );
  });
});
