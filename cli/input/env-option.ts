import { Option } from 'commander';

/** Creates an option that the environment variable `HOOKMILL_<variable>` can set too. */
export function createEnvOption(flags: string, variable: string, description: string): Option {
  return new Option(flags, description).env(`HOOKMILL_${variable}`);
}
