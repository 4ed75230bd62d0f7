export type StoreErrorCode =
  /** Another process holds the lock. */
  | 'locked'
  /** What is on disk is not what hookmill writes. */
  | 'corrupt'
  /** A newer hookmill wrote it. */
  | 'newer-format'
  /** The applied state changed since it was read. */
  | 'serial-moved'
  /** The key is missing, malformed, or not the one that sealed the values. */
  | 'key'
  /** There is no such team secret. */
  | 'secret-unknown'
  /** The team secret is in use. */
  | 'secret-in-use'
  /** The value or the name cannot be a team secret's. */
  | 'secret-invalid';

/** What a store cannot do for a reason that its user can understand and mend. The message holds no secret. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
