/**
 * Why the delivery log did not do what it was asked:
 * - `full`: as much waits for its commit as may wait; nothing was recorded, try again later
 * - `failed`: the transaction was rolled back (`cause` says why); nothing of it is in the log
 * - `closed`: the log is closing, closed, or its thread has died
 * - `version`: the file was written by a newer (or half-installed) hookmill
 * - `unsafe`: the file cannot be opened with the durability that a 202 promises
 */
export type DeliveryLogErrorCode = 'full' | 'failed' | 'closed' | 'version' | 'unsafe';

export class DeliveryLogError extends Error {
  override readonly name = 'DeliveryLogError';
  readonly code: DeliveryLogErrorCode;

  constructor(code: DeliveryLogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
