import { printableJson, printableText } from './render/printable.ts';

// Everything that the command line prints goes through these functions. Only `printExactly` leaves it as it is.

/** Prints data to standard output, in the chosen format. */
export function printData(output: 'text' | 'json', data: unknown, renderText: () => string): void {
  if (output === 'json') printJson(data);
  else printText(renderText());
}

/** Prints data to standard output as JSON. */
export function printJson(data: unknown): void {
  printExactly(`${printableJson(data)}\n`);
}

/** Prints rendered data to standard output. */
export function printText(text: string): void {
  process.stdout.write(printableText(text));
}

/** Prints to standard output what another program reads, such as a stored body. Nothing in it is escaped. */
export function printExactly(data: string | Uint8Array): void {
  process.stdout.write(data);
}

/** Prints a message that is not data, to standard error. */
export function printStatus(text: string): void {
  printFindings(`${text}\n`);
}

/** Prints rendered lines that are not data, such as diagnostics, to standard error. */
export function printFindings(text: string): void {
  process.stderr.write(printableText(text));
}
