import { truncate } from '../diagnostics.ts';
import { maskCredentials } from '../text/credentials.ts';

/** Prepares a message or hint that may quote a file: without credentials, and cut. */
export function quoteText(text: string): string {
  return truncate(maskCredentials(text));
}
