import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { answerThread, callThread, ThreadEnded } from '../../../store/call-thread.ts';
import { DeliveryLogError } from '../../../store/ports/store-error.ts';

interface Sums {
  add(a: number, b: number): number;
  fail(): never;
}

const sums = {
  add: async (a: number, b: number) => a + b,
  fail: () => {
    throw new DeliveryLogError('full', 'too much is waiting');
  },
};

test('both sides call functions of the other, and the code of an error arrives', async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const [call, callBack] = [port1, port2].map(port => answerThread<Sums>(port, sums, () => undefined));
  expect(await Promise.all([call?.('add', [1, 2]), callBack?.('add', [3, 4])])).toEqual([3, 7]);
  await expect(call?.('fail', [])).rejects.toMatchObject({ name: 'DeliveryLogError', code: 'full' });
});

test('a thread that dies fails what it was asked, and the next call starts another', async () => {
  const scripts = ["throw new Error('broken')", 'setInterval(() => undefined, 1_000)'];
  let started = 0;
  const thread = callThread<Sums>(() => new Worker(scripts[started++] ?? '', { eval: true }));
  const asked = [thread.call('add', [1, 2]), thread.call('add', [3, 4])];
  for (const { reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(ThreadEnded);
    expect(reason.cause).toMatchObject({ message: 'broken' });
  }
  const next = expect(thread.call('add', [1, 2])).rejects.toBeInstanceOf(ThreadEnded);
  await thread.end(10);
  await next;
  expect(started).toBe(2);
});
