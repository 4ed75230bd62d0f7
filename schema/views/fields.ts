// Fields that views share.
import { z } from 'zod';
import { commitShape } from '../commit.ts';
import { unloggedReasons } from '../delivery.ts';
import { uidPattern } from '../ids.ts';
import { outside } from './outside.ts';

export const uid = z.string().regex(uidPattern);
export const serial = z.int().nonnegative().describe('Serial of the applied state, as in the ETag.');
export const commit = commitShape
  .nullable()
  .describe('The commit that was applied; null unless the factory follows a branch.');
export const time = z.iso.datetime();
export const webhookAtArrival = z.string().describe('The name of the webhook when the delivery arrived.');
export const changeCounts = z.strictObject({ add: z.int(), change: z.int(), destroy: z.int() });
/** What is shown of a delivery in one line. */
export const titleFields = {
  title: outside(
    z
      .string()
      .describe(
        'The event, such as `pull_request opened`; of a rejected request the reason. A duplicate has the title of its original.',
      ),
  ),
  text: outside(
    z
      .string()
      .nullable()
      .describe(
        'What the event is about, such as `acme/shop#482 · Charge VAT by country`; null if nothing is known. It is from the sender.',
      ),
  ),
};
export const schemeTitleFields = {
  ...titleFields,
  scheme: z.string().nullable().describe('The signature scheme that authenticated it; null if none did.'),
};
/** Where a list goes on. */
export const listEnd = {
  next: z
    .string()
    .nullable()
    .describe(
      'Where the next page begins; null: this is the last page. A page with few or no rows may have one.',
    ),
  hasMore: z.boolean().describe('Whether more rows follow now. With `after`, others may follow later.'),
  searched: z.int().describe('Number of rows that were looked at for this page.'),
};
export const unloggedRequests = z.array(
  z.strictObject({
    uid: z.string(),
    reason: z.enum(unloggedReasons),
    detail: z.string().describe('How a similar URL differs; empty for other reasons.'),
    count: z.int(),
    lastAt: time,
  }),
);
