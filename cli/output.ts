import { Writable } from 'node:stream';
import { printable, printableJson, printableText } from '../schema/text/printable.ts';
import { completeCommands } from './render/own-commands.ts';

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

/** Prints data to standard output as JSON on one line. */
export function printJsonLine(data: unknown): void {
  printExactly(`${printableJson(data, 0)}\n`);
}

/** Prints rendered data to standard output. */
export function printText(text: string): void {
  process.stdout.write(printableText(text));
}

/** Prints to standard output what another program reads, such as a stored body. Nothing in it is escaped. */
export function printExactly(data: string | Uint8Array): void {
  process.stdout.write(data);
}

/** Prints a message that is not data, to standard error. The commands that it names get the place that was given. */
export function printStatus(text: string): void {
  printFindings(`${completeCommands(text)}\n`);
}

/** Prints rendered lines that are not data, such as diagnostics, to standard error. */
export function printFindings(text: string): void {
  process.stderr.write(printableText(text));
}

/** Returns standard output for a protocol. What anything else of this process prints from now on goes to standard error. */
export function reserveOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({ write: (chunk: Buffer, _, done) => write(chunk, done) });
}

/** Whether somebody still reads standard output. */
export function isOutputOpen(): boolean {
  return !process.stdout.destroyed && process.stdout.writable;
}

/** Shows how far a command is on the last line of a terminal, in place of what was there. An empty text removes it. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${printable(text)}\x1b[K`);
}
