/**
 * Why the delivery log did not do what it was asked to do:
 * - `full`: too much is waiting; nothing was recorded, and trying again later may succeed
 * - `failed`: the transaction was rolled back (`cause` says why), so nothing of it is in the log
 * - `late`: the commit takes too long; it may still succeed, and then sending again gives a Duplicate
 * - `damaged`: the file's content is damaged
 * - `replaced`: the file was removed or replaced while it was open
 * - `closed`: the log is closing or closed, or its thread has died
 * - `version`: another version of hookmill wrote the log
 * - `unsafe`: the log cannot be opened with the durability that a 202 promises
 */
export type DeliveryLogErrorCode =
  | 'full'
  | 'failed'
  | 'late'
  | 'damaged'
  | 'replaced'
  | 'closed'
  | 'version'
  | 'unsafe';

export class DeliveryLogError extends Error {
  override readonly name = 'DeliveryLogError';
  readonly code: DeliveryLogErrorCode;

  constructor(code: DeliveryLogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Makes the error for what is asked after the log was closed. */
export function closedError(): DeliveryLogError {
  return new DeliveryLogError('closed', 'the delivery log is closed');
}
