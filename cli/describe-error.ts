import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ApiProblem } from '../schema/api/problems.ts';
import { namePattern } from '../schema/names.ts';
import { Refusal } from '../schema/refusal.ts';
import { didYouMean } from '../schema/text/suggestion.ts';
import { getDefinitionPath } from '../sources/definitions.ts';
import { DeliveryLogError, StoreError } from '../store/ports/store-error.ts';
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

/**
 * Finds the reason of a failed request: the message of the innermost cause, because only that one says what the network
 * did. An error about several addresses of a host has no message, so its code is the reason.
 */
export function findReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return findReason(error.cause);
  return error.message || String('code' in error ? error.code : error.name);
}

/** Says that there is no such signature scheme, and how to find the right one. `otherIds` are accepted besides `schemeIds`. */
export function describeUnknownScheme(
  id: string,
  schemeIds: readonly string[],
  otherIds: readonly string[] = [],
): string {
  const others = otherIds.length > 0 ? `, or use ${otherIds.join(' or ')}` : '';
  const hint =
    didYouMean(id, [...otherIds, ...schemeIds]) ??
    `run \`hookmill schemes list\` to see the known ones${others}`;
  return `unknown signature scheme "${id}"; ${hint}`;
}
