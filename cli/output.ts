import type { Context } from './context.ts';
import { printableJson } from './render/printable.ts';

/** Data goes to standard output, in the form that was asked for. */
export function printData(context: Pick<Context, 'output'>, data: unknown, text: () => string): void {
  process.stdout.write(context.output === 'json' ? `${printableJson(data)}\n` : text());
}

/** What is not data goes to standard error. */
export function printStatus(text: string): void {
  process.stderr.write(`${text}\n`);
}
