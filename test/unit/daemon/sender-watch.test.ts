import { pino } from 'pino';
import { expect, test } from 'vitest';
import { SenderWatch } from '../../../daemon/senders/sender-watch.ts';
import { toOwnBaseUrl } from '../../../schema/ingress-url.ts';

test('providers that do not answer hold up the looks of their own factory only', () => {
  const asked: string[] = [];
  const senders = Array.from({ length: 9 }, (_, n) => ({ factory: 'greedy', uid: `wh_${n}` }));
  let nowMs = 0;
  const watch = new SenderWatch({
    thread: {
      run: (_: unknown, { factory }: { readonly factory: string }) => {
        asked.push(factory);
        return new Promise<never>(() => undefined);
      },
    } as never,
    listSenders: () => [...senders, { factory: 'modest', uid: 'wh_other' }],
    ...{
      replicas: undefined,
      log: pino({ level: 'silent' }),
      baseUrl: () => toOwnBaseUrl('http://127.0.0.1'),
      random: () => 0,
    },
    ...{ nowMs: () => nowMs, monotonicMs: () => nowMs },
  });
  watch.lookAtDue();
  nowMs += 1_000;
  watch.lookAtDue();
  expect(asked).toEqual([...Array(4).fill('greedy'), 'modest']);
});
