import { type RefusalCode, type RefusalParts, refusals } from '../refusal.ts';

/** The HTTP status for each reason for which an operation refuses a request. */
const refusalStatuses: Readonly<Record<RefusalCode, number>> = {
  'webhook-unknown': 404,
  'automation-unknown': 404,
  'delivery-unknown': 404,
  'run-unknown': 404,
  'payload-not-stored': 404,
  'output-not-stored': 404,
  'artifact-unknown': 404,
  'alert-unknown': 404,
  'alert-resolved': 409,
  'repository-missing': 409,
  'reconcile-suspended': 409,
  'sender-missing': 409,
  'sender-not-ready': 409,
  'sender-busy': 409,
  'sender-failed': 502,
  'hook-conflict': 409,
  'hook-changed': 412,
  'test-impossible': 409,
  'test-would-start': 409,
  'daemon-unreachable': 503,
  'api-token-unknown': 404,
  'api-token-taken': 409,
  'token-not-permitted': 403,
  'session-unknown': 404,
  'name-taken': 409,
  'too-many-webhooks': 409,
  'factory-too-large': 409,
  'managed-in-files': 409,
  'managed-in-repository': 409,
  'managed-in-dashboard': 409,
  'secret-taken': 409,
  'secret-missing': 409,
  'secret-referenced': 409,
  'secret-overlap': 409,
  'secret-shared': 409,
  'changes-unconfirmed': 409,
  'run-not-failed': 409,
  'run-ended': 409,
  'run-not-ended': 409,
  'run-not-held': 409,
  'automation-not-paused': 409,
  'nothing-to-replay': 409,
  'automation-disabled': 409,
  'serial-moved': 412,
  'cursor-unknown': 410,
  'request-invalid': 422,
  'definitions-invalid': 422,
  'state-unreadable': 503,
};

/** Why an API token is refused. */
export const tokenProblems = ['token-unknown', 'token-revoked', 'token-expired'] as const;

/** Problems other than refusals: the request itself is wrong, or the daemon cannot serve it now. */
const requestProblems = {
  'not-signed-in': { status: 401, title: 'Not signed in: send an API token, or sign in to the dashboard' },
  'token-unknown': { status: 401, title: 'The API token is unknown: it is not one of this daemon' },
  'token-revoked': { status: 401, title: 'The API token was revoked' },
  'token-expired': { status: 401, title: 'The API token has expired' },
  'session-over': { status: 401, title: 'The session has expired; sign in again' },
  'sign-in-refused': { status: 403, title: 'The sign-in was not accepted, or took too long; try again' },
  'not-permitted': { status: 403, title: 'The caller may not do this' },
  'cross-site': { status: 403, title: 'The request does not come from the dashboard' },
  'host-refused': { status: 403, title: 'Host name not allowed: add it as managementUrl' },
  'metrics-refused': {
    status: 403,
    title:
      'Metrics are only for requests to an address of the machine, or with an API token for all factories',
  },
  'not-found': { status: 404, title: 'Nothing found at this path' },
  'method-not-allowed': { status: 405, title: 'This path does not support this method' },
  'body-too-large': { status: 413, title: 'The request body is too large' },
  'not-json': { status: 415, title: 'The body must be JSON, sent with Content-Type: application/json' },
  'body-unreadable': { status: 400, title: 'The body is incomplete, or is not JSON in UTF-8' },
  'too-many-attempts': { status: 429, title: 'Too many failed attempts to sign in: try again later' },
  'takes-too-long': {
    status: 422,
    title: 'The request took too long and was stopped: send fewer or simpler definitions',
  },
  'change-interrupted': {
    status: 500,
    title: 'The change was interrupted, and may have been made: look before you send it again',
  },
  'too-many-requests': { status: 429, title: 'Request limit reached: try again later' },
  'requests-waiting': { status: 429, title: 'Too many of your requests are waiting: try again' },
  unexpected: { status: 500, title: 'Internal error: see the log of the daemon' },
  locked: { status: 503, title: 'Another process is changing the factory: try again' },
  'store-unreachable': { status: 503, title: 'The database cannot be used now: try again' },
  'log-busy': { status: 503, title: 'The delivery log is busy: try again' },
  'provider-invalid': {
    status: 502,
    title: 'The sign-in provider answered with something else than OpenID Connect: see the log of the daemon',
  },
  'provider-unreachable': { status: 503, title: 'The sign-in provider does not answer; try again' },
  'issuer-keys-missing': {
    status: 503,
    title: 'The OpenID Connect token cannot be verified yet: its key is being fetched; try again',
  },
  'too-many-viewers': { status: 503, title: 'Too many live views are open: close one and try again' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ApiProblemCode = RefusalCode | keyof typeof requestProblems;

/** The status and title of each problem (RFC 9457) that the management API answers with. */
export const apiProblems: Readonly<
  Record<ApiProblemCode, { readonly status: number; readonly title: string }>
> = {
  ...(Object.fromEntries(
    Object.entries(refusals).map(([code, title]) => [
      code,
      { status: refusalStatuses[code as RefusalCode], title },
    ]),
  ) as Record<RefusalCode, { status: number; title: string }>),
  ...requestProblems,
};

/** Why the management API refuses a request. The caller may see all of it. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ApiProblemCode;
  readonly parts: RefusalParts;
  /** Whole seconds after which the same request may be answered, if that is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ApiProblemCode,
    parts: RefusalParts = {},
    { retryAfterSeconds, ...options }: ErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(parts.detail ?? apiProblems[code].title, options);
    this.code = code;
    this.parts = parts;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
