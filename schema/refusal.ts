import type { Diagnostic } from './diagnostics.ts';

/** Each reason for which an operation refuses a request, in words. */
export const refusals = {
  'webhook-unknown': 'The factory has no such webhook',
  'automation-unknown': 'The factory has no such automation',
  'delivery-unknown': 'The factory has no such delivery in its log',
  'run-unknown': 'The factory has no such run in its log',
  'payload-not-stored': 'Only accepted deliveries store their payload',
  'output-not-stored': 'No output of this run is stored',
  'name-taken': 'The name is already taken in this factory',
  'too-many-webhooks': 'Webhook limit reached (20 per factory)',
  'managed-in-files': 'The factory is managed by files; change them and apply',
  'managed-in-repository': 'The factory follows a repository; change its branch',
  'managed-in-dashboard': 'The factory is managed in the dashboard, not by files',
  'secret-taken': 'A team secret of this name already exists',
  'secret-missing': 'There is no team secret of this name',
  'secret-shared': 'Other webhooks use the team secret too',
  'destroy-unconfirmed': 'The apply would destroy webhooks or automations and must be confirmed',
  'run-not-failed': 'Only a failed run can be retried',
  'nothing-to-replay': 'No automation matches the delivery',
  'serial-moved': 'The applied state changed after it was read; read it again',
  'cursor-unknown': 'The cursor is no longer in the delivery log; start again without it',
  'request-invalid': 'Invalid request',
  'definitions-invalid': 'The definitions have errors',
  'state-unreadable': 'The stored state of the factory cannot be read or written',
} as const satisfies Record<string, string>;

export type RefusalCode = keyof typeof refusals;

/** A mistake in a request, at a JSON Pointer into its body or at a parameter. */
export interface RequestMistake {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** How to make a refused change in a factory that is managed by files or by a repository. */
export interface Instead {
  readonly text: string;
  readonly file?: string;
  readonly yaml?: string;
}

export interface RefusalParts {
  /** The reason in this case. It contains no secret, and nothing about other factories. */
  readonly detail?: string | undefined;
  readonly mistakes?: readonly RequestMistake[] | undefined;
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  readonly instead?: Instead | undefined;
}

/** Why an operation refuses a request. The caller may see all of it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly parts: RefusalParts;

  constructor(code: RefusalCode, parts: RefusalParts = {}, options?: ErrorOptions) {
    super(parts.detail ?? refusals[code], options);
    this.code = code;
    this.parts = parts;
  }
}
