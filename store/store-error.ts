export type StoreErrorCode =
  /** Another process holds the lock. */
  | 'locked'
  /** What is on disk is not what hookmill writes. */
  | 'corrupt'
  /** A newer hookmill wrote it. */
  | 'newer-format'
  /** The file system does not let a file be read, or written: permissions, a full disk, a directory in its place. */
  | 'unreadable'
  | 'unwritable'
  /** The applied state changed since it was read. */
  | 'serial-moved'
  /** The key is missing, malformed, or not the one that sealed the values. */
  | 'key'
  /** There is no such team secret. */
  | 'secret-unknown'
  /** The team secret is in use. */
  | 'secret-in-use'
  /** The value or the name cannot be a team secret's. */
  | 'secret-invalid'
  /** There is no such API token, or already one of that name, or its name is none. */
  | 'token-unknown'
  | 'token-taken'
  | 'token-invalid';

/** What a store cannot do for a reason that its user can understand and mend. The message holds no secret. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Turns what the file system says into a StoreError that names the file. To be used as a rejection's handler. */
export function fileFailure(code: 'unreadable' | 'unwritable', file: string): (cause: unknown) => never {
  return cause => {
    if (cause instanceof StoreError) throw cause;
    const reason = cause instanceof Error && 'code' in cause ? cause.code : String(cause);
    const attempt = code === 'unreadable' ? 'read' : 'written';
    throw new StoreError(code, `${file} cannot be ${attempt} (${reason})`, { cause });
  };
}
