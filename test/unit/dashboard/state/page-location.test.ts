import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PageLocation, parseHref, toHref } from '../../../../dashboard/state/page-location.ts';

const name = fc.string({ minLength: 1 });
const listed = fc.constantFrom('overview', 'automations', 'webhooks', 'new-webhook', 'deliveries', 'runs');
const query = fc.dictionary(name, fc.string(), { minKeys: 1, noNullPrototype: true });
const single = fc.constantFrom('automation', 'webhook', 'delivery', 'run', 'settings');

test('parses every location from its own address, whatever the names', () => {
  const places = fc.oneof(
    fc.constant({ page: 'sessions' }),
    fc.record({ page: listed, factory: name }),
    fc.record({ page: listed, factory: name, query }),
    fc.record({ page: single, factory: name, id: name }),
  ) as fc.Arbitrary<PageLocation>;
  fc.assert(
    fc.property(places, place => {
      expect(parseHref(toHref(place))).toEqual(place);
    }),
  );
});

test.for(['#/a/nowhere', '#/a/webhooks/b/c', '#/%E0%A4%A/webhooks'])('%s is no page', hash => {
  expect(parseHref(hash)).toEqual({ page: 'unknown' });
});

test.for(['', '#', '#/'])('"%s" is the start page', hash => {
  expect(parseHref(hash)).toEqual({ page: 'home' });
});

test.for([
  ['#/a', { page: 'overview' }],
  ['#/a/status', { page: 'settings', id: 'branch' }],
  ['#/a/audit', { page: 'settings', id: 'audit' }],
] as const)('%s, an address of an earlier release, leads to its page', ([hash, page]) => {
  expect(parseHref(hash)).toEqual({ factory: 'a', ...page });
});
