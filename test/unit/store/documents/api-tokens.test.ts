import { expect, test } from 'vitest';
import { openApiTokens, tokensDocument } from '../../../../store/documents/api-tokens.ts';
import { digestToken } from '../../../../store/ports/api-tokens.ts';
import { makeDocuments } from '../../../support/documents-in-memory.ts';

const tokens = () => openApiTokens(makeDocuments(), () => new Date(0));
const digestOf = (name: string, factory: string | null) => digestToken(`${factory} ${name}`);
const makeToken = (name: string, factory: string | null) => ({
  ...{ name, factory, permission: 'read' as const },
  sha256: digestOf(name, factory),
});

test('each factory has a share of all API tokens, as the operator has', async () => {
  const apiTokens = tokens();
  const make = (name: string, factory: string | null) => apiTokens.create(makeToken(name, factory));
  const { all, share, reserve } = { all: 1_000, share: 20, reserve: 100 };
  const fill = async (factory: string | null, upTo: number) => {
    for (let n = 0; n < upTo; n++) await make(`t${n}`, factory);
    await expect(make('more', factory)).rejects.toMatchObject({ code: 'token-invalid' });
  };
  await make('ci', 'shop');
  await fill('crm', all - 1);
  await fill('shop', share - 1);
  await fill(null, reserve);
});

test('a list of what was revoked, as it was kept earlier, is read', () => {
  const sha256 = digestOf('ci', null);
  const read = tokensDocument.shape.parse({ formatVersion: 1, tokens: [], revoked: [sha256] });
  expect(read).toEqual({ formatVersion: 1, tokens: [], revoked: { '': [sha256] } });
});

test('what one factory revokes pushes out only what it revoked itself', async () => {
  const apiTokens = tokens();
  const revoke = async (name: string, factory: string | null) => {
    await apiTokens.create(makeToken(name, factory));
    await apiTokens.revoke(digestOf(name, factory));
  };
  await revoke('ci', 'shop');
  await revoke('ci', null);
  for (let n = 0; n <= 20; n++) await revoke(`t${n}`, 'crm');
  expect(await apiTokens.wasRevoked(digestOf('ci', 'shop'))).toBe(true);
  expect(await apiTokens.wasRevoked(digestOf('ci', null))).toBe(true);
  expect(await apiTokens.wasRevoked(digestOf('t0', 'crm'))).toBe(false);
  expect(await apiTokens.wasRevoked(digestOf('t1', 'crm'))).toBe(true);
});
