// A process to be traced or killed: records deliveries and prints each id when its promise has resolved.
// node delivery-log-writer.ts FILE SENDERS [COUNT]
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createSortableId } from '../../../../schema/ids.ts';
import { openDeliveryLog } from '../../../../store/embedded/delivery-log/write/open-delivery-log.ts';

const [file = '', senders = '1', count = 'Infinity'] = process.argv.slice(2);
const log = await openDeliveryLog(file);
let left = Number(count);
await Promise.all(Array.from({ length: Number(senders) }, send));
await print(`commits ${log.stats().commits}\n`);
await log.close();

async function send(): Promise<void> {
  while (left-- > 0) {
    const atMs = Date.now();
    const id = createSortableId('dlv', atMs, randomBytes(16));
    const run = { id: createSortableId('run', atMs, randomBytes(16)), automation: 'triage' };
    const payload = Buffer.from(id.repeat(20));
    const { duplicateOf } = await log.recordAccepted({
      id,
      factory: 'default',
      webhook: 'pay',
      uid: 'wh_000000000000000000000pay',
      atMs,
      size: payload.length,
      // Few enough that many are sent twice.
      identity: `evt_${Math.floor(Math.random() * 5_000)}`,
      identitySource: 'scheme',
      payload,
      runs: [run],
    });
    await print(`${duplicateOf ?? id} ${duplicateOf ? 'duplicate' : 'accepted'}\n`);
  }
}

async function print(line: string): Promise<void> {
  if (!process.stdout.write(line)) await once(process.stdout, 'drain');
}
