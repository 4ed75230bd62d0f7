import { didYouMean } from '../../schema/suggestion.ts';
import { CommandError } from '../exit-status.ts';

/** Tells that no webhook of the factory is called so, and which one may be meant. */
export function unknownWebhook(
  name: string,
  factory: string,
  webhooks: readonly { readonly name: string }[],
): CommandError {
  const names = webhooks.map(webhook => webhook.name);
  const hint = didYouMean(name, names) ?? '`hookmill webhooks list` prints those there are';
  return new CommandError(`the factory ${factory} has no webhook ${name} applied; ${hint}`);
}
