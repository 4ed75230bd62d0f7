import { expect, test } from 'vitest';
import { awaitVerified } from '../../../../cli/senders/await-verified.ts';

type Row = {
  readonly id: string;
  readonly outcome: string;
  readonly verifiedWith?: 'previous';
  reason?: string;
};

const refused: Row = { id: 'dlv_refused', outcome: 'Rejected (auth)', reason: 'no signature' };
const previous: Row = { id: 'dlv_previous', outcome: 'Accepted', verifiedWith: 'previous' };
const duplicate: Row = { id: 'dlv_verified', outcome: 'Duplicate' };
const unread: Row = { id: 'dlv_unread', outcome: 'Rejected (JSON)' };

/** Waits while a list gives these pages, and then nothing more. */
async function verify(pages: readonly (readonly Row[])[], waitMs: number) {
  const asked: unknown[] = [];
  const left = [...pages];
  const call = async (_: string, { query }: { query: { after: string } }) => {
    asked.push(query.after);
    return { deliveries: left.shift() ?? [], next: `page ${asked.length}`, hasMore: false, searched: 0 };
  };
  const verification = await awaitVerified({ call } as never, { uid: 'wh_1', after: 'start', waitMs });
  return { ...verification, asked };
}

test.for([
  ['a refused one', [[refused], [duplicate]]],
  ['one with the previous secret', [[previous], [], [duplicate]]],
  ['others on the same page', [[unread, previous, duplicate]]],
] as const)('a delivery is verified although %s came before', async ([, pages]) => {
  expect(await verify(pages, 60_000)).toMatchObject({ result: 'verified', delivery: 'dlv_verified' });
});

test('without a verified delivery, the first refused one counts, or else none', async () => {
  const notVerified = { result: 'refused', delivery: 'dlv_refused', reason: 'no signature' };
  expect(await verify([[refused], [previous]], 0)).toMatchObject(notVerified);
  const reason = 'it came with the previous value of the secret';
  expect(await verify([[previous]], 0)).toMatchObject({
    result: 'refused',
    delivery: 'dlv_previous',
    reason,
  });
  expect(await verify([[unread]], 0)).toMatchObject({ result: 'missing', delivery: null, reason: null });
});

test('each page begins where the one before ended', async () => {
  expect((await verify([[], [refused], [duplicate]], 60_000)).asked).toEqual(['start', 'page 1', 'page 2']);
});
