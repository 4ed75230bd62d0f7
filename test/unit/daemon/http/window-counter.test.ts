import { expect, test } from 'vitest';
import { WindowCounter } from '../../../../daemon/http/window-counter.ts';

const keysMax = 50_000;
const minuteMs = 60_000;

function startCounter() {
  const clock = { ms: 0 };
  const counter = new WindowCounter(() => clock.ms);
  const countMany = (name: string, keys: number) => {
    for (let key = 0; key < keys; key++) counter.count(`${name} ${key}`);
  };
  return { clock, counter, countMany };
}

test('a window lasts a minute from its first event', () => {
  const { clock, counter } = startCounter();
  counter.count('a');
  clock.ms = minuteMs - 1;
  expect(counter.count('a').count).toBe(2);
  clock.ms = minuteMs;
  expect(counter.find('a')).toBeUndefined();
  expect(counter.count('a').count).toBe(1);
});

test('beyond the most keys, the oldest windows end early, and only those', () => {
  const { clock, counter, countMany } = startCounter();
  countMany('a', keysMax);
  clock.ms = 1;
  countMany('b', 3);
  expect(['a 0', 'a 1', 'a 2', 'a 3'].map(key => counter.find(key)?.count)).toEqual([
    undefined,
    undefined,
    undefined,
    1,
  ]);
  countMany('c', keysMax);
  expect(counter.find('b 2')).toBeUndefined();
  expect(counter.find('c 0')?.count).toBe(1);
});

test('a window that ended and began anew is no longer among the oldest', () => {
  const { clock, counter, countMany } = startCounter();
  counter.count('again');
  clock.ms = minuteMs / 2;
  countMany('a', keysMax - 1);
  clock.ms = minuteMs;
  counter.count('again');
  countMany('b', 1);
  expect(counter.find('again')?.count).toBe(1);
  expect(counter.find('a 0')).toBeUndefined();
});

test('the only window, which ended and began anew, is still counted after that of another key begins', () => {
  const { clock, counter } = startCounter();
  counter.count('a');
  clock.ms = minuteMs;
  counter.count('a');
  counter.count('b');
  expect(counter.count('a').count).toBe(2);
});

test('after all windows have ended, new ones are counted and end as before', () => {
  const { clock, counter, countMany } = startCounter();
  countMany('a', 10);
  clock.ms = minuteMs;
  countMany('b', keysMax + 1);
  expect(counter.find('b 0')).toBeUndefined();
  expect(counter.find('b 1')?.count).toBe(1);
});
