import { z } from 'zod';
import { addMistake } from '../schema/definitions/add-mistake.ts';
import { variableNamePattern } from '../schema/secret-reference.ts';
import { SettingsError } from './settings-error.ts';

/** A setting that names the variable with a secret, in the daemon's environment. */
export const secretVariable = z
  .string()
  .superRefine((text, context) => {
    if (variableNamePattern.test(text)) return;
    addMistake(context, [], 'not a valid environment variable name', {
      code: 'definition/value',
      hint: "name the variable of the daemon's environment that holds the secret",
    });
  })
  .meta({ pattern: variableNamePattern.source });

/** Reads the secret that a setting names. Fails with SettingsError if the variable is not set. */
export function readSecretVariable(environment: NodeJS.ProcessEnv, setting: string, name: string): string {
  const value = environment[name];
  if (!value) throw new SettingsError(`${setting}: the environment variable ${name} is not set`);
  return value;
}
