import { expect, test } from 'vitest';
import { parseWorkspace } from '../../../../schema/definitions/parse-file.ts';

const parse = (text: string) => parseWorkspace('hookmill.yaml', Buffer.from(text));

test('names the factory and the public URL', () => {
  const { definition } = parse('factory: payments\nbaseUrl: https://hooks.example.com\n');
  expect(definition).toEqual({ factory: 'payments', baseUrl: 'https://hooks.example.com' });
});

test('reports every mistake', () => {
  const { definition, diagnostics } = parse('factory: Prod\nbaseUrl: ftp://x\nbaseURL: x\n');
  expect(definition).toBeUndefined();
  expect(diagnostics.map(({ code, range }) => `${range?.start.line} ${code}`)).toEqual([
    '1 definition/value',
    '2 definition/value',
    '3 definition/unknown-key',
  ]);
});
