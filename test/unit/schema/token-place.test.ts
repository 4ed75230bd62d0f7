import { expect, test } from 'vitest';
import { describeTokenPlace, renderTokenOption } from '../../../schema/token-place.ts';

test.each([
  [{}, 'Authorization: Bearer', '-H "Authorization: Bearer $SECRET"'],
  [{ tokenHeader: 'X-Token' }, 'X-Token:', '-H "X-Token: $SECRET"'],
  [
    { tokenHeader: 'Authorization', tokenPrefix: '`"$\\ ' },
    'Authorization: `"$\\',
    '-H "Authorization: \\`\\"\\$\\\\ $SECRET"',
  ],
  [
    { tokenScheme: 'basic', tokenUser: 'me' },
    'Authorization: Basic, as the password of me',
    '-u "me:$SECRET"',
  ],
] as const)('%j is described, and written for a shell', (webhook, described, option) => {
  expect(describeTokenPlace(webhook)).toBe(described);
  expect(renderTokenOption(webhook, 'SECRET')).toBe(option);
});
