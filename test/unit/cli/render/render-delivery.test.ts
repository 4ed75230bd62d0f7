import { expect, test } from 'vitest';
import { renderDelivery } from '../../../../cli/render/render-delivery.ts';
import type { DeliveryDetail } from '../../../../operations/views/delivery-views.ts';

test.each([
  ['a number that no double can hold', '{"id":12345678901234567890}', '{\n  "id": 12345678901234567890\n}'],
  ['a number as it was written', '[1.0, 1e2,-0]', '[\n  1.0,\n  1e2,\n  -0\n]'],
  ['a key that is there twice', '{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
  ['an escape', '"\\u0041\\/"', '"\\u0041\\/"'],
])('shows %s of a payload as it was sent', (_, payload, shown) => {
  const delivery = { id: 'dlv', outcome: 'Accepted', identity: null, commit: null, runs: [], payload };
  const text = renderDelivery({ ...delivery, evaluation: null } as unknown as DeliveryDetail);
  expect(text.endsWith(`\n${shown}\n`)).toBe(true);
});
