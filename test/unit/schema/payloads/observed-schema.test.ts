import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { createObservationBudget, createObserver } from '../../../../schema/payloads/observation.ts';
import { listObservedPaths } from '../../../../schema/payloads/observed-paths.ts';
import { makeObservedSchema } from '../../../../schema/payloads/observed-schema.ts';

test('a validator compiles the schema of payloads with half a surrogate pair in a key, and accepts them', () => {
  const payload = { '\ud83d': { inner: 1 }, a: { 'x\ude00': 'y' }, '😀': 2 };
  const { observation, add } = createObserver(createObservationBudget());
  add(payload);
  const schema = makeObservedSchema('Payload', listObservedPaths(observation));
  const validate = new Ajv().compile(schema);
  expect(validate(payload)).toBe(true);
  expect(validate({ ...payload, '😀': 'two' })).toBe(false);
});
