export const exitStatus = {
  ok: 0,
  /** Invalid definitions, a failed or declined apply, or something that does not exist. */
  problems: 1,
  /** With --detailed-exitcode: there are changes. */
  changes: 2,
  /** Wrong usage; with --detailed-exitcode it is `problems`, because 2 then means changes. */
  usage: 2,
  unexpected: 3,
} as const;

/** Ends a command with a message for its user and an exit status. An empty message prints nothing. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: number;

  constructor(message: string, status: number = exitStatus.problems, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Ends a command that was called wrongly. */
export class UsageError extends CommandError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, exitStatus.usage, options);
  }
}

/** Ends a command because a server does not answer, or not as hookmill does. Trying again may help. */
export class UnreachableError extends CommandError {}
