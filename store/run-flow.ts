/** @limit Deliveries that one run takes up: the next one starts another run. */
export const deliveriesPerRunMax = 1_000;
/** @limit Payload bytes that one run takes up: its attachments stay small enough to write and send at each attempt. */
export const deliveryBytesPerRunMax = 64 * 1024 * 1024;
/** @limit Runs in one claim that are decided by their flow: a delivery waits a few ms for them at most. */
export const flowDecisionsMax = 100;

/** The error of a run that `runsPerHour` stopped. */
export const stopReason =
  'not started: the automation has reached its limit of runs per hour (runsPerHour); retry the run later';
