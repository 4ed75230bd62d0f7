import { describe, expect, it } from 'vitest';
import { parseFieldPath } from '../../../schema/field-path.ts';
import { parseTemplate } from '../../../signatures/content.ts';
import { signatureAgeSecondsMax } from '../../../signatures/schemes/shapes.ts';
import { findScheme, schemeIds, schemes } from '../../../signatures/schemes.ts';
import { summariseScheme } from '../../../signatures/summary.ts';
import { vectors } from './received.ts';

describe('the table', () => {
  it('has each id once, in the form that definitions write', () => {
    expect(new Set(schemeIds).size).toBe(schemeIds.length);
    for (const id of schemeIds) expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  it('finds a scheme only by its exact id', () => {
    for (const scheme of schemes) expect(findScheme(scheme.id)).toBe(scheme);
    for (const id of ['GitHub', 'github ', '__proto__', 'constructor', '']) {
      expect(findScheme(id)).toBeUndefined();
    }
  });

  it.each(schemes)('$id signs the body and reads every part that its content names', scheme => {
    if (scheme.primitive === 'shared-secret' || typeof scheme.content !== 'string') return;
    const template = parseTemplate(scheme.content);
    const placeholders = template.ok ? template.placeholders : new Set();
    expect(placeholders).toContain('body');
    expect(placeholders.has('id')).toBe(scheme.idHeader !== undefined);
    expect(placeholders.has('timestamp')).toBe(
      scheme.timestamp !== undefined && scheme.timestamp.body === undefined,
    );
  });

  it.each(schemes)('$id has its timestamp in one place', scheme => {
    if (scheme.primitive === 'shared-secret' || !scheme.timestamp) return;
    const { header, field, item, body } = scheme.timestamp;
    expect([header, field, item, body].filter(place => place !== undefined)).toHaveLength(1);
    if (field !== undefined) expect(scheme.list?.key).toBeDefined();
    if (item !== undefined) expect(scheme.list).toEqual({ separator: scheme.list?.separator });
  });

  it.each(schemes.filter(({ kind }) => kind === 'payment' || kind === 'standard'))(
    '$id accepts a signed timestamp for the common window',
    scheme => {
      if (scheme.primitive === 'shared-secret' || !scheme.timestamp) return;
      expect(scheme.timestamp.toleranceSeconds).toBe(signatureAgeSecondsMax);
    },
  );

  it('has 120 providers, each kind in one place', () => {
    expect(new Set(schemes.map(({ provider }) => provider.replace(/ \(.*/, ''))).size).toBeGreaterThanOrEqual(
      120,
    );
    const kinds = schemes.map(({ kind }) => kind).filter((kind, index, all) => kind !== all[index - 1]);
    expect(new Set(kinds).size).toBe(kinds.length);
  });

  it.each(schemes)('says when $id was checked, and against what', ({ checked }) => {
    expect(checked.on).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(checked.against.replace(/ \(rule only\)$/, '')).toMatch(
      /\d+\.\d+\.\d+$|at [0-9a-f]{7}$|documentation |, as first researched$|merge requests/,
    );
  });

  it.each(schemes)('says of $id whether nobody else made or accepted a signature in the tests', scheme => {
    const isFromElsewhere = vectors.some(
      ({ scheme: id, valid, origin }) =>
        id === scheme.id && valid && (!origin.startsWith('computed') || origin.includes('accept')),
    );
    expect(scheme.checked.against.endsWith(' (rule only)')).toBe(!isFromElsewhere);
  });

  it.each(schemes)(
    'says of $id what identifies its deliveries: a header, or else the body and why',
    scheme => {
      const sets = 'alternatives' in scheme ? [scheme, ...(scheme.alternatives ?? [])] : [scheme];
      const hasHeader = sets.some(set => ('idHeader' in set && set.idHeader) || set.deliveryIdHeader);
      const { bodyIdentity } = scheme;
      expect(bodyIdentity === undefined).toBe(hasHeader);
      if (!bodyIdentity) return;
      expect(bodyIdentity.source[0]).toMatch(/^https:\/\/|\/| at [0-9a-f]{7}/);
      for (const field of [bodyIdentity.field ?? []].flat()) expect(parseFieldPath(field)).toBeDefined();
    },
  );

  it('the provider is never expected to issue a secret that its user chooses', () => {
    const chosen = schemes.filter(({ secretLocation }) => secretLocation.startsWith('you choose'));
    expect(chosen.length).toBeGreaterThan(10);
    expect(chosen.filter(({ secretCommand }) => secretCommand === 'declare')).toEqual([]);
  });

  it('what a provider says of its deliveries has a source and a day', () => {
    const facts = schemes.flatMap(({ bodyIdentity, success, retries }) => [bodyIdentity, success, retries]);
    for (const fact of facts) if (fact) expect(fact.source[1]).toMatch(/^20\d\d-\d\d-\d\d$/);
    const read = schemes.flatMap(({ success, retries }) => [success ?? [], retries ?? []].flat());
    expect(read.length).toBeGreaterThan(30);
    for (const { source } of read) expect(source[0]).toMatch(/^https:/);
    for (const { success } of schemes) expect(success?.reason ?? '').not.toMatch(/2xx/i);
  });

  it('says nothing of the retries of a provider of whom nothing is known', () => {
    for (const scheme of schemes) {
      const { text, source } = scheme.retries ?? {};
      const line = summariseScheme(scheme).find(({ label }) => label === 'Retries');
      expect(line?.text).toBe(
        source ? `${text} (${source[0]}, ${source[1]})` : "see the provider's documentation",
      );
    }
  });

  it('the secret of a signed handshake is set before the first delivery', () => {
    const signed = ['discord', 'slack', 'twitch', 'zoom'];
    const early = schemes.filter(({ handshake }) => handshake && signed.includes(handshake));
    expect(early).toHaveLength(signed.length);
    expect(early.filter(({ secretCommand }) => secretCommand === 'declare')).toEqual([]);
  });
});
