import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hrefOf, type Place, placeOf } from '../../../dashboard/state/page-location.ts';

const name = fc.string({ minLength: 1 });
const listed = fc.constantFrom('automations', 'webhooks', 'status', 'new-webhook', 'new-automation');
const single = fc.constantFrom('automation', 'edit-automation', 'webhook', 'delivery', 'run');

test('finds every place again by its address, whatever the names', () => {
  const places = fc.oneof(
    fc.record({ page: listed, factory: name }),
    fc.record({ page: single, factory: name, id: name }),
  ) as fc.Arbitrary<Place>;
  fc.assert(
    fc.property(places, place => {
      expect(placeOf(hrefOf(place))).toEqual(place);
    }),
  );
});

test.for(['#/a/nowhere', '#/a/webhooks/b/c', '#/%E0%A4%A/webhooks', '#/a'])('%s is no place', hash => {
  expect(placeOf(hash)).toEqual({ page: 'unknown' });
});

test.for(['', '#', '#/'])('"%s" is the start', hash => {
  expect(placeOf(hash)).toEqual({ page: 'home' });
});
