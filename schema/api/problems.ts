import type { Diagnostic } from '../diagnostics.ts';

/** The problems that the management API can answer, each with its status and title. */
export const apiProblems = {
  'not-signed-in': { status: 401, title: 'Not signed in: send an API token or sign in to the dashboard' },
  'token-unknown': { status: 401, title: 'The API token is unknown or revoked' },
  'session-over': { status: 401, title: 'The session has ended: sign in again' },
  'not-permitted': { status: 403, title: 'The API token does not permit this' },
  'cross-site': { status: 403, title: 'The request did not come from the dashboard' },
  'host-refused': { status: 403, title: 'Host name not allowed: add it to managementUrl' },
  'not-found': { status: 404, title: 'Nothing found at this path' },
  'webhook-unknown': { status: 404, title: 'The factory has no such webhook' },
  'automation-unknown': { status: 404, title: 'The factory has no such automation' },
  'delivery-unknown': { status: 404, title: 'The factory has no such delivery' },
  'run-unknown': { status: 404, title: 'The factory has no such run' },
  'payload-not-stored': { status: 404, title: 'Only the payloads of accepted deliveries are stored' },
  'output-not-stored': { status: 404, title: 'No output is stored for this run' },
  'method-not-allowed': { status: 405, title: 'This path does not support this method' },
  'name-taken': { status: 409, title: 'The name is already in use in this factory' },
  'too-many-webhooks': { status: 409, title: 'Webhook limit reached: delete a webhook first' },
  'managed-in-files': { status: 409, title: 'The factory is defined by files: edit them, then apply' },
  'managed-in-repository': { status: 409, title: 'The factory follows a repository: change its branch' },
  'managed-in-dashboard': { status: 409, title: 'The factory is managed in the dashboard, not by files' },
  'secret-taken': { status: 409, title: 'A team secret with this name already exists' },
  'secret-missing': { status: 409, title: 'No team secret has this name' },
  'secret-shared': { status: 409, title: 'Other webhooks also use this team secret' },
  'destroy-unconfirmed': { status: 409, title: 'Applying would destroy webhooks or automations: confirm it' },
  'run-not-failed': { status: 409, title: 'Only a failed run can be retried' },
  'nothing-to-replay': { status: 409, title: 'No automation matches the delivery' },
  'serial-moved': { status: 412, title: 'The applied state has changed since it was read' },
  'body-too-large': { status: 413, title: 'The request body is too large' },
  'not-json': { status: 415, title: 'The body must be JSON, sent with Content-Type: application/json' },
  'body-unreadable': { status: 400, title: 'The body is incomplete, or is not JSON in UTF-8' },
  'cursor-unknown': { status: 410, title: 'The cursor has expired: start again from the first page' },
  'request-invalid': { status: 422, title: 'Invalid request' },
  'definitions-invalid': { status: 422, title: 'The definitions have errors' },
  'too-many-attempts': { status: 429, title: 'Too many failed attempts to sign in: try again later' },
  unexpected: { status: 500, title: 'Internal error: see the log of the daemon' },
  'state-unreadable': { status: 503, title: 'The data of the factory cannot be read or written now' },
  locked: { status: 503, title: 'Another process is changing the factory: try again' },
  'log-busy': { status: 503, title: 'The delivery log is busy: try again' },
  'too-many-viewers': { status: 503, title: 'Too many live views are open: close one and try again' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ApiProblemCode = keyof typeof apiProblems;

/** A mistake in a request, at a JSON Pointer into its body or at a parameter. */
export interface ApiMistake {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Says what to do instead of a change that the dashboard cannot make, because the factory comes from files. */
export interface Instead {
  readonly text: string;
  readonly file?: string;
  readonly yaml?: string;
}

export interface ApiProblemParts {
  /** Explains this problem. It contains no secret, and nothing about another factory. */
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
