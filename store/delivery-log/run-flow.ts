/** @limit Most deliveries in one run: the next one starts another run. */
export const deliveriesPerRunMax = 1_000;
/** @limit Most payload bytes in one run: its attachments stay small enough to write and send at each attempt. */
export const deliveryBytesPerRunMax = 64 * 1024 * 1024;
/** @limit Runs in one claim that are decided by their flow: a delivery waits a few ms for them at most. */
export const flowDecisionsMax = 100;
/** @limit Runs of a paused automation that one claim releases when the pause has ended: a delivery waits a few ms for them at most. */
export const releasesMax = 1_000;
/** @limit Runs to cancel that one claim takes: the next one takes the others. */
export const cancelsMax = 100;
