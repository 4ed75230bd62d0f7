/** Every bound of what hookmill reads and receives, with its unit and its reason. */

/** A definition file. A parser's work grows with it; real definitions are under 1 KiB. */
export const definitionBytesMax = 64 * 1024;
/** Nested collections in a definition file. Deeper input makes YAML parsers overflow the stack. */
export const definitionDepthMax = 64;
/** Webhooks of a factory. */
export const webhooksMax = 20;

/** Payload filter: nested objects. */
export const filterDepthMax = 16;
/** Payload filter: keys over all levels. */
export const filterKeysMax = 200;
/** Payload filter: values in one list. */
export const filterValuesMax = 500;
/** Characters of a payload that the explanation of one clause shows. */
export const excerptCharsMax = 200;

/** Request body: 256 KB. */
export const bodyBytesMax = 262_144;
/** Authenticated deliveries a minute and webhook. */
export const deliveriesPerMinute = 60;
/** Failed authentication attempts a minute, webhook and client address: guessing stops, others are untouched. */
export const failedAuthPerMinute = 30;
/** Failed attempts a minute and webhook over all addresses: past it a failure is no longer logged. */
export const failedAuthPerMinuteTotal = 300;

/** Delivery identity: longer ones are hashed. */
export const identityBytesMax = 256;
/** Signature timestamps of payment providers and Standard Webhooks: seconds of age, and of clock skew ahead. */
export const signatureAgeSecondsMax = 300;
/** Replay window that a custom scheme may name, in seconds: a longer one stops no replay. */
export const signatureWindowSecondsMax = 3600;
/** Signatures in one header: senders write one per active secret, and a rotation has two or three. */
export const signaturesMax = 16;

/** Deliveries waiting for their commit: past either bound the answer is 503. */
export const deliveriesWaitingMax = 10_000;
export const deliveryBytesWaitingMax = 64 * 1024 * 1024;
/** One transaction of the delivery log: past either bound the rest rides in the next, so that none waits long. */
export const deliveriesPerCommitMax = 1_000;
export const deliveryBytesPerCommitMax = 8 * 1024 * 1024;
/** How long a write waits for another process' write, in ms: an operator's backup may hold the file a while. */
export const sqliteBusyTimeoutMs = 30_000;
/** 4 KiB pages in the write-ahead log before SQLite moves them into the file: 16 MiB. */
export const walPagesBeforeCheckpoint = 4_096;
/** Bytes that the write-ahead log keeps allocated after a burst. */
export const walBytesKept = 64 * 1024 * 1024;
/** One step of pruning the delivery log: what a delivery waits for at most, a few ms. */
export const deliveriesPerPruneStepMax = 200;
export const deliveryBytesPerPruneStepMax = 4 * 1024 * 1024;
/** Delivery log retention: the newest deliveries of each webhook that are always kept, and the age below which all are. */
export const deliveriesKept = 50;
export const deliveryDaysKept = 7;
