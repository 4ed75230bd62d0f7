import { expect, test } from 'vitest';
import { describeSimilarUid, didYouMean, joinWithOr } from '../../../../schema/text/suggestion.ts';

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

const uid = 'wh_0a1b2c3d4e5f6g7h8i9j0k1l';

test.each([
  [uid, ''],
  [uid.toUpperCase(), 'the UID is in upper case'],
  [uid.slice(0, 20), 'the UID is cut off after 20 of 27 characters'],
  [uid.slice(3), 'the first 3 characters of the UID are missing'],
  [`${uid}.`, '"." follows the UID'],
  [`${uid}"`, '"\\"" follows the UID'],
  [`${uid} \n`, 'white space follows the UID'],
  [uid.replace('4', 'o'), 'one character of the UID is wrong'],
  [uid.replace('c3', 'c'), 'the UID has one character too few'],
  [uid.replace('c3', 'cc3'), 'the UID has one character too many'],
  [uid.replace('c3', '3c'), 'two characters of the UID are wrong'],
  ['wh_zzzzzzzzzzzzzzzzzzzzzzzz', undefined],
])('compares %j with a UID', (text, difference) => {
  expect(describeSimilarUid(text, uid)).toBe(difference);
});

test('repeats nothing that may be a credential', () => {
  expect(describeSimilarUid(`${uid}s3cret`, uid)).toBe('more characters follow the UID');
});
