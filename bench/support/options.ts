import { parseArgs } from 'node:util';

const factors = { '': 1, k: 1_000, m: 1_000_000 };

/**
 * Reads numbers from `--name number` on the command line, also with a suffix: `10k` is 10,000 and `100m` 100 million. Those
 * left out come from `defaults`. Throws a RangeError for anything else.
 */
export function parseNumbers<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const names = Object.keys(defaults);
  const options = Object.fromEntries(names.map(name => [name, { type: 'string' }] as const));
  const { values } = parseArgs({ options });
  const given = Object.entries(values).map(([name, value]) => [name, parseNumber(name, String(value))]);
  return { ...defaults, ...Object.fromEntries(given) };
}

function parseNumber(name: string, text: string): number {
  const { number, suffix = '' } = /^(?<number>\d+(\.\d+)?)(?<suffix>[km]?)$/i.exec(text)?.groups ?? {};
  if (number === undefined)
    throw new RangeError(`--${name} must be a number such as 20, 10k or 100m: ${text}`);
  return Number(number) * factors[suffix.toLowerCase() as keyof typeof factors];
}
