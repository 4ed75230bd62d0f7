import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ApiProblem } from '../schema/api/problems.ts';
import { namePattern } from '../schema/name.ts';
import { Refusal } from '../schema/refusal.ts';
import { getDefinitionPath } from '../sources/definition-file-name.ts';
import { DeliveryLogError } from '../store/ports/delivery-log-error.ts';
import { StoreError } from '../store/ports/store-error.ts';
import { CommandError, exitStatus } from './exit-status.ts';

/** Describes a failure for the user, with what to do about it, and its exit status. The text is not escaped. */
export function describeError(error: unknown): { readonly message: string; readonly status: number } {
  if (error instanceof CommandError) return { message: error.message, status: error.status };
  if (error instanceof StoreError || error instanceof DeliveryLogError)
    return { message: error.message, status: exitStatus.problems };
  if (error instanceof Refusal || error instanceof ApiProblem)
    return { message: describeRefusal(error), status: exitStatus.problems };
  const message = error instanceof Error ? error.message : String(error);
  return { message: `unexpected failure: ${message}`, status: exitStatus.unexpected };
}

/** The message of a refusal, with each mistake and what to do instead. */
function describeRefusal({ message, parts: { mistakes = [], instead } }: ApiProblem | Refusal): string {
  const text = [message, ...mistakes.map(mistake => mistake.message)].join(': ');
  return instead ? `${text}; ${instead.text}` : text;
}

/** Explains an unknown webhook whose definition exists: it is only not applied yet. */
export function explainNotApplied(
  error: unknown,
  directory: string,
  subject: string,
): CommandError | undefined {
  if (!(error instanceof Refusal) || error.code !== 'webhook-unknown') return undefined;
  if (!namePattern.test(subject)) return undefined;
  const file = getDefinitionPath('webhook', subject);
  if (!existsSync(join(directory, file))) return undefined;
  return new CommandError(
    `${file} is not applied, so its webhook has no URL; ${error.parts.instead?.text ?? 'run `hookmill apply`'}`,
    undefined,
    { cause: error },
  );
}
