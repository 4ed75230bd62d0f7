import { expect, test } from 'vitest';
import { schemes } from '../../signatures/schemes.ts';

test('a secret that its user chooses is never waited for from the provider', () => {
  const chosen = schemes.filter(({ secretLocation }) => secretLocation.startsWith('you choose'));
  expect(chosen.length).toBeGreaterThan(10);
  expect(chosen.filter(({ secretCommand }) => secretCommand === 'declare')).toEqual([]);
});

test('a signed handshake, which comes before the first delivery, has its secret set by then', () => {
  const signed = ['discord', 'slack', 'twitch', 'zoom'];
  const early = schemes.filter(({ handshake }) => handshake && signed.includes(handshake));
  expect(early).toHaveLength(signed.length);
  expect(early.filter(({ secretCommand }) => secretCommand === 'declare')).toEqual([]);
});
