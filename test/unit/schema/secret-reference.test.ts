import { expect, test } from 'vitest';
import { parseSecretReference } from '../../../schema/secret-reference.ts';

test.for([
  ['env:GITHUB_WEBHOOK', { kind: 'env', variable: 'GITHUB_WEBHOOK' }],
  ['file:/run/secrets/github webhook', { kind: 'file', path: '/run/secrets/github webhook' }],
  [
    'exec:vault kv get -field=value secret/hooks',
    { argv: ['vault', 'kv', 'get', '-field=value', 'secret/hooks'] },
  ],
  ['exec:/usr/bin/op  read op://hooks/github', { argv: ['/usr/bin/op', 'read', 'op://hooks/github'] }],
  ['exec:["op", "read", "op://My Vault/$x"]', { argv: ['op', 'read', 'op://My Vault/$x'] }],
] as const)('%s is a reference', ([text, expected]) => {
  expect(parseSecretReference(text)).toMatchObject(expected);
});

test.for([
  'a-plain-value',
  'env:',
  'env:A-B',
  'env:HOOKMILL_KEY',
  'ENV:NAME',
  'file:secret.txt',
  'file:',
  'file:/run/a\nb',
  'exec:',
  'exec:./get-secret',
  'exec:bin/get-secret',
  'exec:echo "a b"',
  'exec:echo $HOME',
  'exec:cat a | head',
  'exec:[]',
  'exec:["a", 1]',
  'exec:["a"',
  `exec:${'a'.repeat(1_024)}`,
])('%j is none', text => {
  expect(parseSecretReference(text)).toBeUndefined();
});
