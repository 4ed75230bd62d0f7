// A process to be traced or killed: records deliveries and prints each id when its promise has resolved.
// node delivery-log-writer.ts FILE SENDERS [COUNT]
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createSortableId } from '../../../../../schema/ids.ts';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { acceptedDelivery, newRun } from '../../../../support/deliveries.ts';

const [file = '', senders = '1', count = 'Infinity'] = process.argv.slice(2);
const log = await openDeliveryLog(file);
let left = Number(count);
await Promise.all(Array.from({ length: Number(senders) }, send));
await print(`commits ${log.stats().commits}\n`);
await log.close();

async function send(): Promise<void> {
  while (left-- > 0) {
    const id = createSortableId('dlv', Date.now(), randomBytes(16));
    const payload = Buffer.from(id.repeat(20));
    // Few enough that many are sent twice.
    const identity = `evt_${Math.floor(Math.random() * 5_000)}`;
    const delivery = acceptedDelivery({ id, payload, identity, runs: [newRun()] });
    const { duplicateOf } = await log.recordAccepted(delivery);
    await print(`${duplicateOf ?? id} ${duplicateOf ? 'duplicate' : 'accepted'}\n`);
  }
}

async function print(line: string): Promise<void> {
  if (!process.stdout.write(line)) await once(process.stdout, 'drain');
}
