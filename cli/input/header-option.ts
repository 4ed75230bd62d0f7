import { Option } from 'commander';
import type { EventHeaders } from '../../schema/event-headers.ts';
import { headerNamePattern } from '../../schema/filters/header-name.ts';
import { UsageError } from '../exit-status.ts';

/** Names and values of headers, in the order in which they were given. */
export type HeaderLines = readonly (readonly [string, string])[];

/** Creates the repeatable option `--header "Name: value"`. */
export function createHeaderOption(description: string): Option {
  return new Option('--header <header>', description).argParser(
    (line: string, lines: HeaderLines | undefined): HeaderLines => [...(lines ?? []), parseHeaderLine(line)],
  );
}

function parseHeaderLine(line: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([^:]*):\s*(.*?)\s*$/u.exec(line) ?? [];
  if (headerNamePattern.test(name) && !/\p{Cc}/u.test(value)) return [name, value];
  throw new UsageError(`"${line}" is not a header; write it as in "X-GitHub-Event: push"`);
}

/** Joins header lines of the same name into one value, as the ingress does. */
export function toEventHeaders(lines: HeaderLines = []): EventHeaders {
  const grouped = Map.groupBy(lines, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...grouped].map(([name, same]) => [name, same.map(([, value]) => value).join(', ')]),
  );
}

/** Creates an option that its environment variable can set too: `HOOKMILL_BASE_URL` for `--base-url`. */
export function createEnvOption(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`HOOKMILL_${option.name().toUpperCase().replaceAll('-', '_')}`);
}
