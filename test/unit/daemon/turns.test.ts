import { expect, test } from 'vitest';
import { letOthersRun } from '../../../daemon/operations-thread/turns.ts';
import type { MainVerbs } from '../../../daemon/operations-thread/wire.ts';
import type { CallVerb } from '../../../store/call-thread.ts';

function openTurns() {
  const told: string[] = [];
  const call = (async (verb: string) => void told.push(verb)) as CallVerb<MainVerbs>;
  return { told, wait: letOthersRun(call, 1) };
}

test('gives others their turn while an operation waits, once after the other', async () => {
  const { told, wait } = openTurns();
  expect(await wait(async () => 'first')).toBe('first');
  await expect(wait(() => Promise.reject(new Error('second')))).rejects.toThrow('second');
  expect(told).toEqual(['waits', 'goesOn', 'waits', 'goesOn']);
});

test('refuses to wait twice at once, which would give others the turn of somebody else', async () => {
  const { told, wait } = openTurns();
  const first = Promise.withResolvers<string>();
  const waiting = wait(() => first.promise);
  await expect(wait(async () => 'second')).rejects.toThrow('only once at a time');
  first.resolve('first');
  expect(await waiting).toBe('first');
  expect(told).toEqual(['waits', 'goesOn']);
});
