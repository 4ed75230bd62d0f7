import { expect, test } from 'vitest';
import { findSchemes, oftenUsed } from '../../../../dashboard/text/senders.ts';
import { schemes } from '../../../../signatures/schemes.ts';

const find = (typed: string) => findSchemes(schemes, typed).map(({ id }) => id);

test('finds providers by name, kind and other names, those that begin with what was typed first', () => {
  expect(
    find('git')
      .slice(0, 4)
      .every(id => id.startsWith('git')),
  ).toBe(true);
  expect(find('git')).toEqual(expect.arrayContaining(['forgejo', 'gogs', 'bitbucket']));
  expect(find('codeberg')).toEqual(['forgejo']);
  expect(find('payment stripe')).toEqual(['stripe']);
  expect(find('Slack')[0]).toBe('slack');
  expect(find('nothing like it')).toEqual([]);
});

test('the providers that are offered first exist', () => {
  const ids = schemes.map(({ id }) => id);
  expect(oftenUsed.filter(id => !ids.includes(id))).toEqual([]);
});
