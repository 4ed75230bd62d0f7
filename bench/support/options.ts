import { parseArgs } from 'node:util';

const factors = { '': 1, k: 1_000, m: 1_000_000 };

/**
 * Reads `--name value` on the command line. Those left out come from `defaults`; one whose default is a number must be a
 * number, also with a suffix: `10k` is 10,000 and `100m` 100 million. Throws an error for anything else.
 */
export function parseOptions<Defaults extends Readonly<Record<string, number | string>>>(defaults: Defaults) {
  const options = Object.fromEntries(Object.keys(defaults).map(name => [name, { type: 'string' }] as const));
  const { values } = parseArgs({ options });
  const given = Object.entries(values).map(([name, value]) => [
    name,
    typeof defaults[name] === 'number' ? parseNumber(name, String(value)) : value,
  ]);
  return { ...defaults, ...Object.fromEntries(given) } as {
    readonly [Name in keyof Defaults]: Defaults[Name] extends number ? number : string;
  };
}

function parseNumber(name: string, text: string): number {
  const { number, suffix = '' } = /^(?<number>\d+(\.\d+)?)(?<suffix>[km]?)$/i.exec(text)?.groups ?? {};
  if (number === undefined)
    throw new RangeError(`--${name} must be a number such as 20, 10k or 100m: ${text}`);
  return Number(number) * factors[suffix.toLowerCase() as keyof typeof factors];
}
