import { parseArgs } from 'node:util';

/** Reads numbers from `--name number` on the command line. Those left out come from `defaults`. */
export function parseNumbers<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const names = Object.keys(defaults);
  const options = Object.fromEntries(names.map(name => [name, { type: 'string' }] as const));
  const { values } = parseArgs({ options });
  const given = Object.entries(values).map(([name, value]) => [name, Number(value)]);
  return { ...defaults, ...Object.fromEntries(given) };
}
