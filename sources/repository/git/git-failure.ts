export type GitFailureCode =
  /** There is no git that can be run. */
  | 'git-missing'
  /** The mirror's directory cannot be written: permissions, a full disk. */
  | 'mirror-unwritable'
  /** git took longer than it may. */
  | 'timeout'
  /** More came than may: objects of a fetch, or output. */
  | 'too-large'
  /** hookmill is stopping. */
  | 'stopped'
  /** git said no; the message is its own. */
  | 'refused';

/** Why git did not do what it was asked for. The message may hold a server's text: escape it where it is shown. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly code: GitFailureCode;

  constructor(code: GitFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
