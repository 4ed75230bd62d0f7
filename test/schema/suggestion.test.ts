import { expect, test } from 'vitest';
import { didYouMean, joinWithOr } from '../../schema/text/suggestion.ts';

test.for([
  ['strip', 'did you mean stripe?'],
  ['GITHUB', 'did you mean github?'],
  ['gihtub', 'did you mean github?'],
  ['bitbucket', undefined],
  ['', undefined],
] as const)('for %j suggests %s', ([word, expected]) => {
  expect(didYouMean(word, ['github', 'stripe'])).toBe(expected);
});

test('means what begins with the word, however many', () => {
  expect(didYouMean('gitlab', ['github', 'gitlab-token', 'gitlab-signing-token'])).toBe(
    'did you mean gitlab-token or gitlab-signing-token?',
  );
  expect(didYouMean('gi', ['gitlab-token'])).toBeUndefined();
});

test('suggests nothing where nothing is known', () => {
  expect(didYouMean('x', [])).toBeUndefined();
});

test('suggests names in upper case for names in upper case', () => {
  expect(didYouMean('GITHUB_WEBHOK', ['STRIPE', 'GITHUB_WEBHOOK'])).toBe('did you mean GITHUB_WEBHOOK?');
});

test.for([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a or b'],
  [['a', 'b', 'c'], 'a, b or c'],
] as const)('lists %j as %j', ([words, expected]) => {
  expect(joinWithOr(words)).toBe(expected);
});

test('the words that begin with all but the last letter are suggested, if none is nearer', () => {
  const schemes = ['github', 'gitlab-token', 'gitlab-signing-token', 'stripe'];
  expect(didYouMean('gitlabb', schemes)).toBe('did you mean gitlab-token or gitlab-signing-token?');
  expect(didYouMean('githubb', schemes)).toBe('did you mean github?');
  expect(didYouMean('gixyzw', schemes)).toBeUndefined();
});
