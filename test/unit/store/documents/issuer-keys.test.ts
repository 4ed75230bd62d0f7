import { expect, test } from 'vitest';
import { openIssuerKeys } from '../../../../store/documents/daemon-records.ts';
import { makeDocuments } from '../../../support/documents-in-memory.ts';

test('keys of issuers that somebody needs are kept, and of the others those that were fetched last', async () => {
  const issuerKeys = openIssuerKeys(makeDocuments());
  const keep = (issuer: string) =>
    issuerKeys.keep({ issuer, keys: [], failure: null }, issuer => issuer === 'https://needed.example');
  await keep('https://needed.example');
  for (let n = 0; n <= 21; n++) await keep(`https://old.example/${n}`);
  await keep('https://needed.example');
  const { issuers } = await issuerKeys.read();
  const kept = Array.from({ length: 20 }, (_, n) => `https://old.example/${n + 2}`);
  expect(issuers.map(({ issuer }) => issuer)).toEqual([...kept, 'https://needed.example']);
});
