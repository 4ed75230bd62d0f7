import { z } from 'zod';
import { auditEntryShape } from '../audit-entry.ts';
import { type Grant, permissions } from '../grant.ts';
import { time } from './fields.ts';

const grant = z.strictObject({
  factory: z.string().nullable().describe('The factory that it is for; null: all factories.'),
  permission: z.enum(permissions),
}) satisfies z.ZodType<Grant>;
/** Who is signed in. */
export const identityAnswer = z.strictObject({
  kind: z.enum(['token', 'person', 'workload']),
  name: z.string().describe('The name of the API token or of the person, or the issuer of the token.'),
  grants: z.array(grant).describe('All permissions of the caller.'),
});
export const signedInAnswer = identityAnswer.extend({
  sessionKey: z.string().describe('Sent in X-Hookmill-Session with each request of the session.'),
});
/** A session of the dashboard. */
export const sessionAnswer = z.strictObject({
  id: z.string().describe('Names the session. Nobody can use the session with it.'),
  kind: z.enum(['token', 'person']),
  name: z.string().describe('The name of the API token or of the person that it belongs to.'),
  subject: z.string().nullable().describe('The name that the person keeps forever at the provider.'),
  host: z.string().describe('The host and port at which it began.'),
  from: z.string().describe('The address from which somebody signed in.'),
  beganAt: time,
  usedAt: time.describe('When it was last used, to within a minute.'),
  until: time.describe('When it ends at the latest.'),
});
export const sessionsAnswer = z.strictObject({
  sessions: z.array(
    sessionAnswer.extend({ current: z.boolean().describe('Whether this request belongs to it.') }),
  ),
});
/** The provider at which people can sign in; null if they can only use API tokens at this host. */
export const signInAnswer = z.strictObject({
  provider: z.strictObject({ label: z.string() }).nullable(),
});
export const signInBegunAnswer = z.strictObject({
  url: z.string().describe('The page of the provider at which the person signs in.'),
  attemptKey: z.string().describe('Finishes the sign-in, together with the cookie.'),
});
export const secretAnswer = z.strictObject({
  name: z.string(),
  state: z
    .enum(['set', 'declared', 'reference', 'missing'])
    .describe(
      '`declared`: it has no value yet. `missing`: it does not exist, and a webhook names it, or one at the tip of the branch that could not be applied.',
    ),
  from: z
    .string()
    .nullable()
    .optional()
    .describe(
      'Where the value is kept; null if another key sealed the reference. Only with the state `reference`.',
    ),
  previousUntil: time.optional().describe('Until when the value before stays valid. Only during an overlap.'),
  updatedAt: time.nullable().describe('null: it is missing.'),
  usedBy: z.array(z.string()).describe('The webhooks of this factory that use the secret, or would.'),
  usedByBranch: z.boolean().describe('Whether the branch that the factory follows is read with it.'),
  usedElsewhere: z.boolean().describe('Whether a webhook of another factory uses the secret.'),
});
export const secretsAnswer = z.strictObject({ secrets: z.array(secretAnswer) });
export const auditAnswer = z.strictObject({
  entries: z.array(auditEntryShape),
  next: z.string().nullable().describe('The `cursor` of the next page.'),
});
/** A new API token. No other answer contains it. */
export const createdTokenAnswer = z.strictObject({
  name: z.string(),
  factory: z.string().nullable().describe('The only factory that the token is for; null: all factories.'),
  permission: z.enum(permissions),
  expiresAt: time.nullable().describe('null: never.'),
  token: z.string().describe('The token, shown only in this answer.'),
});
/** API tokens that are valid for the factory, never the tokens themselves. */
export const tokensAnswer = z.strictObject({
  tokens: z.array(
    z.strictObject({
      name: z.string(),
      factory: z.string().nullable().describe('The only factory that the token is for; null: all factories.'),
      permission: z.enum(permissions),
      createdAt: time,
      expiresAt: time.nullable().describe('null: never.'),
      lastUsedAt: time.nullable().describe('Accurate to the minute; null: never.'),
    }),
  ),
});
