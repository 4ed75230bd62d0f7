import { z } from 'zod';
import { addMistake } from '../../../schema/definitions/add-mistake.ts';
import { nameShape } from '../../../schema/definitions/value-shapes.ts';
import { permissions } from '../../../schema/grant.ts';
import { secretVariable } from '../../setting-shapes.ts';

/** @limit Most grants to groups that an operator can set: a factory needs two. */
const signInGrantsMax = 1_000;
/** @limit Longest name of a group or a claim, in characters: providers use up to a few dozen. */
const signInNameCharsMax = 200;

const name = z.string().min(1).max(signInNameCharsMax);
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/);

const issuer = z.url({ protocol: /^https?$/ }).superRefine((text, context) => {
  if (isPrivateUrl(text)) return;
  addMistake(context, [], 'the issuer must use https', {
    code: 'definition/value',
    hint: 'http works only for a provider on this machine',
  });
});

const grantShape = z.strictObject({
  group: name.describe('Name of a group in the groups claim, exactly as the provider writes it.'),
  permission: z.enum(permissions).describe('Permission of its members.'),
  factories: z
    .array(nameShape)
    .min(1)
    .optional()
    .describe('Factories that it is for; without this key, all.'),
});

/** The key `signIn` of the daemon's configuration file. */
export const signInSettingsShape = z
  .strictObject({
    issuer: issuer.describe('Issuer of the OpenID Connect provider, such as https://login.example.com.'),
    clientId: name.describe('Client ID that the provider gave to hookmill.'),
    clientSecret: name.optional().describe('Name of the team secret with the client secret.'),
    clientSecretFromEnvironment: secretVariable
      .optional()
      .describe("Name of the variable in the daemon's environment that holds the client secret."),
    label: name.default('single sign-on').describe('Name of the provider on the button of the sign-in page.'),
    scopes: z
      .array(scope)
      .default(['profile', 'email'])
      .describe('Scopes to ask for in addition to openid; some providers need one for the groups claim.'),
    groupsClaim: name.default('groups').describe('Claim with the groups of a person.'),
    grants: z
      .array(grantShape)
      .min(1)
      .max(signInGrantsMax)
      .describe('Permissions of the members of groups. Nobody else can sign in.'),
  })
  .superRefine(({ clientSecret, clientSecretFromEnvironment }, context) => {
    if (clientSecret === undefined || clientSecretFromEnvironment === undefined) return;
    addMistake(context, ['clientSecret'], 'give either clientSecret or clientSecretFromEnvironment', {
      code: 'definition/value',
    });
  });

export type SignInSettings = z.output<typeof signInSettingsShape>;

/** Whether nobody in between can read what is sent to a URL: it has https, or leads to this machine. */
export function isPrivateUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
