import { z } from 'zod';
import { addMistake } from '../schema/definitions/add-mistake.ts';
import { nameShape } from '../schema/name-shape.ts';
import { secretNameShape } from '../schema/secret-name-shape.ts';
import { parseSecretReference, secretReferenceRule } from '../schema/secret-reference.ts';

const secretShape = z.strictObject({
  name: secretNameShape.describe('Name of the team secret.'),
  from: z
    .string()
    .superRefine((text, context) => {
      if (parseSecretReference(text)) return;
      // The text could be the secret itself, so the message does not quote it.
      const hint = `use ${secretReferenceRule}`;
      addMistake(context, [], 'this is not a reference to a secret', { code: 'definition/value', hint });
    })
    .describe(
      'Where the value is kept: env:NAME, file:/absolute/path, or exec: and a command that prints it, run without a shell.',
    ),
  factories: z
    .array(nameShape)
    .describe('The factories that may use it; none for a secret that only alerts are signed with.'),
});

/** The key `secrets` of the daemon's configuration file. */
export const secretSettingsShape = z
  .array(secretShape)
  .default([])
  .superRefine((secrets, context) => {
    for (const [index, { name }] of secrets.entries()) {
      if (secrets.findIndex(other => other.name === name) === index) continue;
      const message = `the team secret ${name} is declared twice`;
      addMistake(context, [index, 'name'], message, { code: 'definition/value', hint: 'remove one of them' });
    }
  });
