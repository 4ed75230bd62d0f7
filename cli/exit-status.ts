export const exitStatus = {
  ok: 0,
  /** Invalid definitions, a failed or declined apply, something that was asked for and is not there. */
  problems: 1,
  /** With --detailed-exitcode: there are changes. */
  changes: 2,
  usage: 2,
  unexpected: 3,
} as const;

/** Ends a command with a message for its user and an exit status. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: number;

  constructor(message: string, status: number = exitStatus.problems) {
    super(message);
    this.status = status;
  }
}
