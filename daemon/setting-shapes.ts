import { z } from 'zod';
import { addMistake } from '../schema/definitions/add-mistake.ts';
import { variableNamePattern } from '../schema/secret-reference.ts';

/** The settings name something that does not exist, such as an environment variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

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

/** A URL that the operator lets the daemon post to. */
export const receiverUrl = z.string().superRefine((text, context) => {
  if (isReceiverUrl(text)) return;
  addMistake(context, [], 'not a valid URL of a receiver', {
    code: 'definition/value',
    hint: 'use http:// or https://, without user or password',
  });
});

/** Whether a text is a URL that the daemon may post to. */
export function isReceiverUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** @limit Longest time that any setting of runs can have, in seconds: a day; a longer one is probably a mistake. */
const runSecondsMax = 86_400;
/** @limit Output kept of one attempt at a run, in bytes: enough for a log that a person reads. */
const runOutputBytes = 1024 * 1024;
/** @limit Most output that an operator can keep of one attempt, in bytes: a few runs cannot fill the disk. */
const runOutputBytesMax = 64 * 1024 * 1024;

/** A number of things, at least one. */
export const count = z.int().min(1);
/** A time in seconds. */
export const seconds = z.number().positive().max(runSecondsMax);
/** The setting `outputBytes` of a runner whose attempts have output. */
export const outputBytes = count
  .max(runOutputBytesMax)
  .default(runOutputBytes)
  .describe('Maximum output to keep of one attempt, in bytes.');
