import type { DeliveryLog } from '../../store/delivery-log.ts';
import type { UnloggedRequests } from './unlogged-requests.ts';

/** @limit Time between two writes of the counts of requests without a row, in ms: whoever asks why sees the last second's. */
const writeEveryMs = 1_000;
/** @limit Most counts of requests without a row in one transaction: deliveries wait a few ms for them at most. */
const countsPerWriteMax = 500;

/**
 * Writes the counts to the delivery log every second while there are some. While the log cannot be written, they wait, so
 * that no delivery and no stop waits for them.
 */
export function startUnloggedWrites(
  requests: Pick<UnloggedRequests, 'take' | 'giveBack'>,
  deliveryLog: Pick<DeliveryLog, 'recordUnlogged' | 'describeTrouble'>,
): { stop(): Promise<void> } {
  const write = async () => {
    if (deliveryLog.describeTrouble() !== undefined) return;
    const counts = requests.take();
    for (let at = 0; at < counts.length; at += countsPerWriteMax) {
      const part = counts.slice(at, at + countsPerWriteMax);
      await deliveryLog.recordUnlogged(part).catch(() => requests.giveBack(part));
    }
  };
  let writing = Promise.resolve();
  const writeNext = () => {
    writing = writing.then(write);
    return writing;
  };
  const timer = setInterval(writeNext, writeEveryMs).unref();
  return {
    stop: () => {
      clearInterval(timer);
      return writeNext();
    },
  };
}
