import { CommandError, exitStatus } from '../exit-status.ts';

/** The value of a `--limit`. */
export function limitOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new CommandError(`--limit takes a whole number from 1, not "${text}"`, exitStatus.usage);
}
