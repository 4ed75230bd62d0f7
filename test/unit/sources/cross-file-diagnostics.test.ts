import { expect, test } from 'vitest';
import { parseDefinitions } from '../../../sources/parse-definitions.ts';

const bytes = Buffer.from('secretName: A\n');

test('warns of the names that Windows reserves, and of no others', () => {
  const names = ['aux', 'com0', 'com1', 'com10', 'con', 'console', 'lpt9', 'nul', 'prn', 'prn-2'];
  const files = names.map(name => ({ kind: 'webhook' as const, name, file: `webhooks/${name}.yaml`, bytes }));
  const { diagnostics, webhooks } = parseDefinitions({ files, diagnostics: [] });
  expect(webhooks).toHaveLength(names.length);
  expect(diagnostics.map(({ code, severity, file }) => `${severity} ${code} ${file}`)).toEqual(
    ['aux', 'com1', 'con', 'lpt9', 'nul', 'prn'].map(
      name => `warning definition/file-name webhooks/${name}.yaml`,
    ),
  );
});
