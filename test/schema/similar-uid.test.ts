import { expect, test } from 'vitest';
import { describeSimilarUid } from '../../schema/text/suggestion.ts';

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
