export type GitFailureCode =
  /** Git cannot be executed. */
  | 'git-missing'
  /** The mirror's directory cannot be written: permissions, a full disk. */
  | 'mirror-unwritable'
  /** Git exceeded its time limit. */
  | 'timeout'
  /** A fetch or the output of git exceeded its limit. */
  | 'too-large'
  /** hookmill is stopping. */
  | 'stopped'
  /** Git failed; the message is its own. */
  | 'refused';

/** The reason why git failed. The message may contain a server's text: escape it before showing it. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly code: GitFailureCode;

  constructor(code: GitFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
