import { z } from 'zod';
import { type CustomScheme, customScheme, findScheme, schemeIds, schemes } from '../../signatures/scheme.ts';
import { didYouMean } from '../suggestion.ts';
import { addProblem, type ParsedFile, parseDefinition, problem } from './parse-file.ts';

export const authModes = ['token', 'url_token', 'signature'] as const;
export type AuthMode = (typeof authModes)[number];

/** A scheme's id, or the user's own description of an HMAC. */
export type SchemeReference = string | CustomScheme;

/** The name of a team secret. */
export const secretNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

// RFC 9110 section 5.6.2: a field name is a token.
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
// An identity is kept in the clear in the delivery log, so no header that carries a credential can be one.
const credentialHeaders = ['authorization', 'cookie', 'proxy-authorization'];

const secretName = z
  .string()
  .superRefine((name, context) => {
    if (secretNamePattern.test(name)) return;
    addProblem(context, [], `"${name}" is not a name that a team secret can have`, {
      code: 'definition/value',
      hint: 'up to 128 letters, digits, _ . and -, as in GITHUB_WEBHOOK',
    });
  })
  .meta({ pattern: secretNamePattern.source, examples: ['GITHUB_WEBHOOK'] });

const deliveryIdHeader = z
  .string()
  .superRefine((name, context) => {
    if (!fieldName.test(name)) {
      addProblem(context, [], `"${name}" is not a header name`, {
        code: 'definition/value',
        hint: 'the name alone, as in X-Event-Id',
      });
    } else if (credentialHeaders.includes(name.toLowerCase())) {
      addProblem(context, [], `${name} carries a credential and cannot identify a delivery`, {
        code: 'definition/value',
        hint: 'name the header in which the sender stamps its event ID',
      });
    }
  })
  .meta({ pattern: fieldName.source, examples: ['X-Event-Id'] });

const schemeId = z
  .string()
  .superRefine((id, context) => {
    if (findScheme(id)) return;
    addProblem(context, [], `unknown signature scheme "${id}"`, {
      code: 'webhook/scheme-unknown',
      hint:
        didYouMean(id, schemeIds) ??
        '`hookmill schemes list` prints the known ones; an object describes another HMAC',
    });
  })
  .meta({ enum: [...schemeIds], enumDescriptions: schemes.map(scheme => scheme.provider) });

// Rules over several keys are checked even when a key by itself is wrong, so that all mistakes show at once.
const always = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

// An auth mode that is itself wrong says nothing about which other keys belong to it.
const isTokenMode = (mode: unknown) => mode === 'token' || mode === 'url_token';

/** What stands in `webhooks/<name>.yaml`. */
export const webhookShape = z
  .strictObject({
    authMode: z
      .enum(authModes)
      .default('token')
      .describe('How a sender proves that it may deliver.')
      .meta({
        enumDescriptions: [
          'The secret is a bearer token in the Authorization header.',
          'The secret is the last segment of the ingress URL.',
          'The sender signs each request under a signature scheme.',
        ],
      }),
    signatureScheme: z
      .union([schemeId, customScheme])
      .optional()
      .describe(
        'Only for authMode signature: the id of a signature scheme, or an object that describes an HMAC.',
      ),
    secretName: secretName.describe('The team secret that holds the credential.'),
    deliveryIdHeader: deliveryIdHeader
      .optional()
      .describe('The request header in which the sender stamps its own event ID.'),
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether deliveries are accepted; senders get 404 while not.'),
  })
  .refine(webhook => webhook.authMode !== 'signature' || webhook.signatureScheme !== undefined, {
    ...always,
    path: ['authMode'],
    error: 'authMode signature needs a signatureScheme',
    params: problem({
      code: 'webhook/scheme-missing',
      hint: 'add signatureScheme: with the id of the sender, as in signatureScheme: github',
    }),
  })
  .refine(webhook => !isTokenMode(webhook.authMode) || webhook.signatureScheme === undefined, {
    ...always,
    path: ['signatureScheme'],
    error: 'signatureScheme has no effect unless authMode is signature',
    params: problem({
      code: 'webhook/scheme-unexpected',
      hint: 'write authMode: signature, or remove signatureScheme',
      atKey: true,
    }),
  })
  .meta({
    examples: [
      { secretName: 'DEPLOYS_TOKEN' },
      { authMode: 'signature', signatureScheme: 'github', secretName: 'GITHUB_WEBHOOK' },
    ],
    // The two refinements above, for editors.
    if: { properties: { authMode: { const: 'signature' } }, required: ['authMode'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['signatureScheme'] },
    else: { properties: { signatureScheme: false } },
  });

export interface WebhookDefinition {
  readonly name: string;
  readonly authMode: AuthMode;
  readonly signatureScheme?: SchemeReference;
  readonly secretName: string;
  readonly deliveryIdHeader?: string;
  readonly enabled: boolean;
}

export function parseWebhook(name: string, file: string, bytes: Uint8Array): ParsedFile<WebhookDefinition> {
  const parsed = parseDefinition(webhookShape, file, bytes);
  return { ...parsed, definition: parsed.definition && { name, ...parsed.definition } };
}
