import { expect, test } from 'vitest';
import { listJsonSpellings } from '../../schema/text/json-text.ts';

test('spells a text in each way in which an encoder may write it', () => {
  expect(listJsonSpellings('order-4711')).toEqual(['order-4711']);
  expect(listJsonSpellings('a/"é😀')).toEqual([
    'a/"é😀',
    'a/\\"é😀',
    'a/\\"\\u00e9\\ud83d\\ude00',
    'a/\\"\\u00E9\\uD83D\\uDE00',
    'a\\/"é😀',
    'a\\/\\"é😀',
    'a\\/\\"\\u00e9\\ud83d\\ude00',
    'a\\/\\"\\u00E9\\uD83D\\uDE00',
  ]);
});
