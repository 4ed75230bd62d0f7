import type { z } from 'zod';
import type { Diagnostic } from './diagnostics.ts';
import type { insteadAnswer, mistakeAnswer } from './views/problem-answer.ts';

/** Each reason for which an operation refuses a request, in words. */
export const refusals = {
  'webhook-unknown': 'The factory has no such webhook',
  'automation-unknown': 'The factory has no such automation',
  'delivery-unknown': 'The factory has no such delivery',
  'run-unknown': 'The factory has no such run',
  'payload-not-stored': 'Only the payloads of accepted deliveries are stored',
  'output-not-stored': 'No output of this run is stored',
  'artifact-unknown': 'The run has no artifact with this name on this machine',
  'alert-unknown': 'The factory has no such alert, or it ended long ago',
  'alert-resolved': 'The alert is resolved',
  'repository-missing': 'The factory follows no repository',
  'reconcile-suspended': 'Reconciling of the factory is suspended',
  'sender-missing': 'The definition of the webhook has no sender',
  'sender-not-ready': 'The webhook cannot be registered at its provider yet',
  'sender-busy': 'Another registration of the webhook is in progress',
  'sender-failed': 'The provider of the webhook did not do what it was asked',
  'hook-conflict': 'The hooks at the provider do not allow this registration',
  'hook-changed': 'The hook, or what it should be, has changed since it was planned',
  'test-impossible': 'hookmill cannot send a test to this webhook',
  'test-would-start': 'The test event would start runs',
  'daemon-unreachable': 'No daemon receives deliveries',
  'api-token-unknown': 'The factory has no such API token',
  'api-token-taken': 'An API token with this name already exists',
  'token-not-permitted': 'The API token would have more permissions than the caller',
  'session-unknown': 'There is no such session that the caller may see',
  'name-taken': 'The name is already in use in this factory',
  'too-many-webhooks': 'Webhook limit reached (20 per factory)',
  'factory-too-large': 'The automations exceed a limit of the factory',
  'managed-in-files': 'The factory is defined by files: edit them, then apply',
  'managed-in-repository': 'The factory follows a repository: change its branch',
  'managed-in-dashboard': 'The factory is managed in the dashboard, not by files',
  'secret-taken': 'A team secret with this name already exists',
  'secret-missing': 'No team secret has this name',
  'secret-referenced': 'The value of this team secret is kept elsewhere',
  'secret-overlap': 'The previous value of the team secret cannot stay valid, or is not kept',
  'secret-shared': 'Other webhooks also use this team secret',
  'changes-unconfirmed': 'Some of the changes are applied only when they are confirmed',
  'run-not-failed': 'The run has not failed',
  'run-ended': 'The run has ended',
  'run-not-ended': 'The run has not ended',
  'run-not-held': 'The run does not wait for approval',
  'automation-not-paused': 'The automation is not paused',
  'nothing-to-replay': 'No automation matches the delivery',
  'automation-disabled': 'The automation is disabled',
  'serial-moved': 'The applied state has changed since it was read',
  'cursor-unknown': 'The cursor has expired: start again from the first page',
  'request-invalid': 'Invalid request',
  'definitions-invalid': 'The definitions have errors',
  'state-unreadable': 'The stored state of the factory cannot be read or written',
} as const satisfies Record<string, string>;

export type RefusalCode = keyof typeof refusals;

/** The way to make a refused change in a factory that is managed by files or by a repository. */
export type Instead = z.output<typeof insteadAnswer>;

export interface RefusalParts {
  /** The reason in this case. It contains no secret, and nothing about other factories. */
  readonly detail?: string | undefined;
  readonly mistakes?: readonly z.output<typeof mistakeAnswer>[] | undefined;
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  readonly instead?: Instead | undefined;
}

/** Explains why an operation refuses a request. The caller may see all of it. */
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
