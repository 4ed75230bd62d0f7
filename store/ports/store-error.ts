export type StoreErrorCode =
  /** Another process holds the lock. */
  | 'locked'
  /** The stored data is not what hookmill writes. */
  | 'corrupt'
  /** Another version of hookmill wrote the data. */
  | 'newer-format'
  /** The file system does not allow a file to be read or written: permissions, a full disk, a directory in its place. */
  | 'unreadable'
  | 'unwritable'
  /** The database cannot be reached, or refuses to work. */
  | 'unreachable'
  /** This kind of store cannot do it. */
  | 'unsupported'
  /** A writer that ignored the lock changed the data after it was read. */
  | 'serial-moved'
  /** The key is missing, malformed, or not the one that sealed the values. */
  | 'key'
  /** Other users can change the stored data, or read what is secret in it. */
  | 'unsafe'
  /** The store to copy to has something that the store to copy from does not have. */
  | 'other-content'
  /** The store is the target of a copy that was stopped. */
  | 'incomplete'
  /** There is no such team secret. */
  | 'secret-unknown'
  /** A team secret of this name already exists. */
  | 'secret-taken'
  /** A webhook uses the team secret. */
  | 'secret-in-use'
  /** The value of the team secret cannot overlap with the one before. */
  | 'secret-overlap'
  /** The name or the value of the team secret is invalid. */
  | 'secret-invalid'
  /** There is no such API token. */
  | 'token-unknown'
  /** An API token of this name already exists. */
  | 'token-taken'
  /** The API token's name is invalid, or there are too many tokens. */
  | 'token-invalid';

/** Why a store cannot do what it was asked to do, in cases that the user can fix. The message contains no secret. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Converts an error of the file system to a StoreError that names the file. Use it as a rejection handler. */
export function fileFailure(code: 'unreadable' | 'unwritable', file: string): (cause: unknown) => never {
  return cause => {
    if (cause instanceof StoreError) throw cause;
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const attempt = code === 'unreadable' ? 'read' : 'written';
    const advice = remedies[reason] ? `; ${remedies[reason]}` : '';
    throw new StoreError(code, `${file} cannot be ${attempt} (${reason})${advice}`, { cause });
  };
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'check its permissions',
  EPERM: 'check its permissions',
  EROFS: 'the file system is read-only',
  ENOSPC: 'free disk space and try again',
  EISDIR: 'a directory is in its place',
  ENOTDIR: 'a file is in place of its directory',
};

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
