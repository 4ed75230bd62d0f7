import { printableJson } from './render/printable.ts';

/** Prints data to standard output, in the chosen format. */
export function printData(output: 'text' | 'json', data: unknown, renderText: () => string): void {
  process.stdout.write(output === 'json' ? `${printableJson(data)}\n` : renderText());
}

/** Prints a message that is not data, to standard error. */
export function printStatus(text: string): void {
  process.stderr.write(`${text}\n`);
}
