import { expect, test } from 'vitest';
import { findEventType, isOfEventType } from '../../../schema/find-event-type.ts';

test.for<[string, Record<string, string>, string, boolean]>([
  ['push', { 'x-github-event': 'push' }, '[]', true],
  ['push', { 'x-github-event': 'push_other' }, '{}', false],
  ['order.paid', {}, '{"type":"order.paid"}', true],
  ['order.paid', {}, '{"event":{"type":"order.paid"},"event_name":"order.paid"}', true],
  ['order.paid', {}, '{"data":{"type":"order.paid"}}', false],
  ['order.paid', {}, '"order.paid"', false],
  ['order.paid', {}, 'null', false],
])('%s in %j and %s: %s', ([eventType, headers, body, expected], { expect }) => {
  expect(isOfEventType(eventType, headers, body)).toBe(expected);
});

test('finds no type among the properties that every object has', () => {
  expect(isOfEventType('[native code]', {}, '{"__proto__":{"type":"[native code]"}}')).toBe(false);
});

test.for<[Record<string, string>, string | undefined]>([
  [{ 'user-agent': 'GitHub-Hookshot', 'x-github-event': 'push' }, 'push'],
  [{ 'twitch-eventsub-subscription-type': 'a', 'twitch-eventsub-message-type': 'b' }, 'a'],
  [{ 'content-type': 'application/json', 'x-tenant': 'shop', 'x-github-delivery': 'guid-1' }, undefined],
  [{ 'x-github-event': '' }, undefined],
])('the type that %j name is %s, and the filter finds it', ([headers, expected], { expect }) => {
  const found = findEventType(headers);
  expect(found).toBe(expected);
  if (found !== undefined) expect(isOfEventType(found, headers, '{}')).toBe(true);
});
