import type { Diagnostic } from '../diagnostics.ts';

/** Each way in which the management API refuses a request: the status and what it means. */
export const apiProblems = {
  'not-signed-in': { status: 401, title: 'An API token or a session is needed' },
  'token-unknown': { status: 401, title: 'The API token is unknown or revoked' },
  'session-over': { status: 401, title: 'The session is over: sign in again' },
  'not-permitted': { status: 403, title: 'The API token does not permit this' },
  'cross-site': { status: 403, title: 'The request does not come from the dashboard itself' },
  'host-refused': { status: 403, title: 'The daemon is not to be reached under this host name' },
  'not-found': { status: 404, title: 'There is nothing at this path' },
  'webhook-unknown': { status: 404, title: 'The factory has no such webhook' },
  'automation-unknown': { status: 404, title: 'The factory has no such automation' },
  'delivery-unknown': { status: 404, title: 'The delivery log of the factory has no such delivery' },
  'run-unknown': { status: 404, title: 'The delivery log of the factory has no such run' },
  'payload-not-stored': { status: 404, title: 'Payloads are stored of accepted deliveries alone' },
  'output-not-stored': { status: 404, title: 'No output of this run is kept' },
  'method-not-allowed': { status: 405, title: 'The path does not take this method' },
  'name-taken': { status: 409, title: 'The factory has another of this name' },
  'too-many-webhooks': { status: 409, title: 'The factory has as many webhooks as it may have' },
  'managed-in-files': { status: 409, title: 'The factory is defined by files: change them and apply' },
  'managed-in-repository': { status: 409, title: 'The factory follows a repository: change its branch' },
  'managed-in-dashboard': { status: 409, title: 'The factory is managed in the dashboard, not by files' },
  'secret-taken': { status: 409, title: 'There is another team secret of this name' },
  'secret-missing': { status: 409, title: 'There is no team secret of this name' },
  'secret-shared': { status: 409, title: 'Other webhooks use the team secret too' },
  'destroy-unconfirmed': { status: 409, title: 'The apply destroys, which has to be confirmed' },
  'run-not-failed': { status: 409, title: 'Only a failed run can be retried' },
  'nothing-to-replay': { status: 409, title: 'No automation matches the delivery' },
  'serial-moved': { status: 412, title: 'The applied state changed since it was read' },
  'body-too-large': { status: 413, title: 'The body is larger than this path takes' },
  'not-json': { status: 415, title: 'The body has to be JSON, and its Content-Type has to say so' },
  'body-unreadable': { status: 400, title: 'The body is not JSON in UTF-8, or not whole' },
  'cursor-unknown': { status: 410, title: 'The cursor is no longer in the delivery log: begin anew' },
  'request-invalid': { status: 422, title: 'The request says something that cannot be done' },
  'definitions-invalid': { status: 422, title: 'The definitions have errors' },
  'too-many-attempts': { status: 429, title: 'Too many attempts to sign in failed' },
  unexpected: { status: 500, title: 'The daemon failed; its log says more' },
  'state-unreadable': { status: 503, title: 'What is kept of the factory cannot be read or written now' },
  locked: { status: 503, title: 'Another process changes the factory: try again' },
  'log-busy': { status: 503, title: 'The delivery log cannot be asked now: try again' },
  'too-many-viewers': { status: 503, title: 'As many live views are open as may be' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ApiProblemCode = keyof typeof apiProblems;

/** A mistake in a request, at a JSON Pointer into its body or at a parameter. */
export interface ApiMistake {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What to do in place of what a factory of files or of a repository does not let the dashboard do. */
export interface Instead {
  readonly text: string;
  readonly file?: string;
  readonly yaml?: string;
}

export interface ApiProblemParts {
  /** What is wrong here; no secret, and nothing of another factory. */
  readonly detail?: string | undefined;
  readonly mistakes?: readonly ApiMistake[] | undefined;
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  readonly instead?: Instead | undefined;
}

/** Why the management API does not do what it was asked; whoever asked is told all of it. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ApiProblemCode;
  readonly parts: ApiProblemParts;

  constructor(code: ApiProblemCode, parts: ApiProblemParts = {}, options?: ErrorOptions) {
    super(parts.detail ?? apiProblems[code].title, options);
    this.code = code;
    this.parts = parts;
  }
}
