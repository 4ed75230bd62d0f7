// Webhooks and automations as answers show them, and requests send them back with changes.
import { z } from 'zod';
import { runControlFields } from '../definitions/automation-definition.ts';
import { customScheme } from '../definitions/custom-scheme.ts';
import { senderShape } from '../definitions/sender-keys.ts';
import { bodyFormats, identityShape } from '../definitions/webhook-definition.ts';
import { headerFilterSchema } from '../filters/header-filter.ts';
import { payloadFilterSchema } from '../filters/payload-filter.ts';
import { authModes } from '../ingress-url.ts';
import { claimsShape } from '../oidc/claims.ts';
import { commit, serial, uid } from './fields.ts';

const file = z
  .string()
  .nullable()
  .describe('The definition file that it comes from; null: created in the dashboard.');
const yaml = z.string().describe('The text of its definition file.');

export const webhookAnswer = z.strictObject({
  name: z.string(),
  uid,
  // Commands show and use the URL that a server answers: it must be no option and no path of a file.
  url: z
    .string()
    .regex(/^https?:\/\//i)
    .describe('The ingress URL. `{token}` stands for the secret of a url_token webhook.'),
  authMode: z.enum(authModes),
  signatureScheme: z.union([z.string(), customScheme]).nullable(),
  provider: z
    .string()
    .nullable()
    .describe(
      'Who signs by the scheme; null: no scheme of a provider, or one that this daemon does not know.',
    ),
  tokenHeader: z.string().nullable().describe('The header with the token; null: Authorization, or no token.'),
  tokenPrefix: z.string().nullable(),
  tokenScheme: z.enum(['bearer', 'basic']).nullable(),
  tokenUser: z.string().nullable().describe('The user of HTTP Basic.'),
  secretName: z.string().nullable().describe('null: authMode oidc has no secret.'),
  issuer: z
    .string()
    .nullable()
    .describe('The issuer of the tokens of its senders; null except with authMode oidc.'),
  audience: z
    .string()
    .nullable()
    .describe('The audience that a token must have; null except with authMode oidc.'),
  claims: claimsShape
    .nullable()
    .describe('The claims that a token must have; null except with authMode oidc.'),
  bodyFormat: z
    .enum(bodyFormats)
    .describe('The format of request bodies: of the definition, or of its scheme.'),
  payloadField: z
    .string()
    .nullable()
    .describe('The field of a form whose value is the payload; null: all fields, or the body is JSON.'),
  deliveryIdHeader: z.string().nullable(),
  deliveryIdField: z.union([z.string(), z.array(z.string())]).nullable(),
  identity: identityShape
    .nullable()
    .describe('How deliveries without an ID are told apart; null: by their bodies.'),
  handshake: z
    .union([z.string(), z.strictObject({ cloudevents: z.string() })])
    .nullable()
    .describe('The question of its sender that is answered before a delivery; cloudevents with its origin.'),
  sender: senderShape.nullable().describe('Where the provider has the hook that delivers to it.'),
  keepHeaders: z.array(z.string()),
  eventHeaders: z
    .array(z.string())
    .describe('The request headers that are kept of each accepted delivery, including keepHeaders.'),
  enabled: z.boolean(),
  credential: z
    .enum(['set', 'not set'])
    .describe('`not set`: the webhook answers 401 until its secret is set.'),
  createdAt: z.iso
    .datetime()
    .nullable()
    .describe('When the webhook got its UID; null: a hookmill that did not record it created the webhook.'),
  file,
  commit,
});
export const webhookDetailAnswer = webhookAnswer.extend({
  serial,
  yaml,
});

export const appliedTrigger = z.strictObject({
  uid: z.string(),
  webhook: z
    .string()
    .nullable()
    .describe(
      'The name of the webhook; null: the webhook is unknown or deleted, so the trigger never fires.',
    ),
  byName: z
    .string()
    .optional()
    .describe('The name, if the definition selects the webhook by its name; also of a deleted one.'),
  payload: payloadFilterSchema.optional(),
  headers: headerFilterSchema.optional(),
});
export const automationAnswer = z.strictObject({
  name: z.string(),
  enabled: z.boolean(),
  prompt: z.string(),
  triggers: z.array(appliedTrigger),
  ...runControlFields,
  file,
});
export const automationDetailAnswer = automationAnswer.extend({
  serial,
  yaml,
});

export const automationsAnswer = z.strictObject({ serial, automations: z.array(automationAnswer) });
