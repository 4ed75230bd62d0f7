import { z } from 'zod';
import { tokenHandshakes } from '../../signatures/description.ts';
import {
  describeScheme,
  findScheme,
  isCredentialHeader,
  isSchemeCredentialHeader,
  isSignedOnce,
  schemeAliases,
  schemeIds,
  schemes,
} from '../../signatures/schemes.ts';
import { deliveryDaysKept, type FormFormat } from '../delivery.ts';
import { isObject } from '../filters/clause.ts';
import { findHeaderNameMistake, headerNamePattern, keepHeadersMax } from '../headers.ts';
import { type AuthMode, authModes } from '../ingress-url.ts';
import { didYouMean } from '../text/suggestion.ts';
import { dayMs } from '../time-units.ts';
import { addMistake, type KeyRule, type MistakeParams } from './add-mistake.ts';
import { customScheme } from './custom-scheme.ts';
import { fieldPath } from './field-path-shape.ts';
import { isOtherMode, oidcKeys, oidcRules, requirePinnedCaller } from './oidc-keys.ts';
import { senderRules, senderShape } from './sender-keys.ts';
import { tokenKeys, tokenRules } from './token-keys.ts';
import { durationShape, secretNameShape } from './value-shapes.ts';

// CloudEvents is written with its origin.
const namedHandshakes: string[] = tokenHandshakes.filter(name => name !== 'cloudevents');

// The delivery log keeps identities as plain text, so a header that carries a credential cannot be one.
const isCredential = (name: string) =>
  ['authorization', 'cookie', 'proxy-authorization'].includes(name.toLowerCase()) ||
  isSchemeCredentialHeader(name);

const deliveryIdHeader = z
  .string()
  .superRefine((name, context) => {
    const code = 'definition/value';
    const mistake = findHeaderNameMistake(name, 'X-Event-Id');
    if (mistake) addMistake(context, [], mistake.message, { code, hint: mistake.hint });
    else if (isCredential(name)) {
      const hint = 'name the header in which the sender puts its event ID';
      addMistake(context, [], `${name} carries a credential, so it cannot identify a delivery`, {
        code,
        hint,
      });
    }
  })
  .meta({ pattern: headerNamePattern.source, examples: ['X-Event-Id'] });

/** @limit Most fields that identify a delivery together: providers that need several have two or three. */
const idFieldsMax = 4;

const deliveryIdField = z.union([fieldPath, z.array(fieldPath).min(1).max(idFieldsMax)]);

/** @limit Longest time for which a definition calls two bodies the same, in ms (7 days): the log keeps a delivery at least that long. */
const sameBodyMsMax = deliveryDaysKept * dayMs;

export const identityShape = z.union([
  z.literal('none'),
  z.strictObject({
    sameBody: durationShape('time', 1_000, sameBodyMsMax).describe(
      'Two deliveries with the same body are the same one if the second comes within this time.',
    ),
  }),
]);

const keptHeader = z
  .string()
  .superRefine((name, context) => {
    const mistake = findHeaderNameMistake(name, 'X-Tenant');
    if (mistake) addMistake(context, [], mistake.message, { code: 'definition/value', hint: mistake.hint });
    else if (isCredentialHeader(name)) {
      addMistake(context, [], describeCredential(name), credentialMistake);
    }
  })
  .meta({ pattern: headerNamePattern.source });

const describeCredential = (name: string) =>
  `${name} carries a credential or a signature, which the delivery log never keeps`;
const credentialMistake: MistakeParams = {
  code: 'webhook/header-secret',
  hint: 'remove it, and list only headers that describe the event',
};

const keepHeaders = z
  .array(keptHeader)
  .max(keepHeadersMax)
  .superRefine((names, context) => {
    const listed = new Set<string>();
    for (const [index, name] of names.entries()) {
      const lower = name.toLowerCase();
      const hint = 'remove it: case does not matter in names of headers';
      if (listed.has(lower))
        addMistake(context, [index], `${name} is listed twice`, { code: 'definition/value', hint });
      listed.add(lower);
    }
  });

const schemeId = z
  .string()
  .superRefine((id, context) => {
    if (findScheme(id)) return;
    addMistake(context, [], `unknown signature scheme "${id}"`, {
      code: 'webhook/scheme-unknown',
      hint:
        didYouMean(id, schemeIds) ??
        'run `hookmill schemes list` to see the known schemes, or describe an HMAC with an object',
    });
  })
  .meta({
    enum: [...schemeIds, ...Object.keys(schemeAliases)],
    enumDescriptions: [
      ...schemes.map(scheme => scheme.provider),
      ...Object.values(schemeAliases).map(id => `The same as ${id}`),
    ],
  });

const namedHandshake = z
  .string()
  .superRefine((name, context) => {
    if (namedHandshakes.includes(name)) return;
    addMistake(context, [], `unknown handshake "${name}"`, {
      code: 'definition/value',
      hint:
        name === 'cloudevents'
          ? 'name the origin that may deliver, as in handshake: { cloudevents: eventgrid.azure.net }'
          : (didYouMean(name, namedHandshakes) ??
            'write event-grid, microsoft-graph or { cloudevents: ORIGIN }'),
    });
  })
  .meta({ enum: namedHandshakes, enumDescriptions: ['Azure Event Grid', 'Microsoft Graph'] });

// RFC 1123 section 2.1, and an optional port. Never `*`: it would let every sender deliver.
const originPattern = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?(?::\d{1,5})?$/;

const origin = z
  .string()
  .superRefine((name, context) => {
    if (originPattern.test(name)) return;
    addMistake(context, [], `"${name.slice(0, 80)}" is not an origin`, {
      code: 'definition/value',
      hint: 'write exactly what the sender puts in WebHook-Request-Origin, as in eventgrid.azure.net',
    });
  })
  .meta({ pattern: originPattern.source })
  .describe('The origin that may deliver: what the sender puts in WebHook-Request-Origin.');

const handshake = z.union([namedHandshake, z.strictObject({ cloudevents: origin })]);

// The rules about several keys are checked even if one key is wrong, so that all mistakes show at once.
const always = { when: ({ value }: { value: unknown }) => isObject(value) };

const keyRules: readonly KeyRule[] = [
  ...oidcRules,
  ...senderRules,
  ...tokenRules,
  {
    holds: ({ authMode, signatureScheme }) => authMode !== 'signature' || signatureScheme !== undefined,
    key: 'authMode',
    error: 'authMode signature needs a signatureScheme',
    params: {
      code: 'webhook/scheme-missing',
      hint: "add signatureScheme: with the id of the sender's scheme, as in signatureScheme: github",
    },
  },
  {
    holds: ({ authMode, signatureScheme }) =>
      !isOtherMode(authMode, 'signature') || signatureScheme === undefined,
    key: 'signatureScheme',
    error: 'signatureScheme has no effect unless authMode is signature',
    params: {
      code: 'webhook/scheme-unexpected',
      hint: 'write authMode: signature, or remove signatureScheme',
      atKey: true,
    },
  },
  {
    holds: ({ deliveryIdHeader, deliveryIdField }) =>
      deliveryIdHeader === undefined || deliveryIdField === undefined,
    key: 'deliveryIdField',
    error: 'deliveryIdHeader and deliveryIdField cannot both identify a delivery',
    params: {
      code: 'webhook/identity-twice',
      hint: 'keep the one whose ID is the same in each retry of an event',
      atKey: true,
    },
  },
  {
    holds: ({ identity, signatureScheme }) => identity === undefined || isReplaySafe(signatureScheme),
    key: 'identity',
    error: 'identity cannot be set for this signature, which covers no time and no ID',
    params: {
      code: 'definition/value',
      hint: 'remove it: the same request, sent again by anyone who captured it, would start runs',
      atKey: true,
    },
  },
  {
    holds: webhook => webhook.payloadField === undefined || findFormFormat(webhook) !== undefined,
    key: 'payloadField',
    error: 'payloadField has no effect unless bodies are forms',
    params: {
      code: 'definition/value',
      hint: 'write bodyFormat: form, or remove payloadField',
      atKey: true,
    },
  },
  {
    holds: ({ authMode, handshake }) => isOtherMode(authMode, 'signature') || handshake === undefined,
    key: 'handshake',
    error: 'handshake has no effect with authMode signature',
    params: {
      code: 'definition/value',
      hint: 'remove it: the signature scheme says how its provider asks',
      atKey: true,
    },
  },
  {
    holds: ({ authMode, handshake }) =>
      (authMode !== 'token' && authMode !== 'oidc') || handshake !== 'microsoft-graph',
    key: 'handshake',
    error:
      'Microsoft Graph cannot send a bearer token, so it cannot deliver to a webhook with authMode token',
    params: { code: 'definition/value', hint: 'write authMode: url_token' },
  },
];

/** The header with the credential, if the definition itself names or describes it. */
function findOwnCredentialHeader({
  tokenHeader,
  signatureScheme,
}: Pick<WebhookKeys, 'tokenHeader' | 'signatureScheme'>): string | undefined {
  return typeof signatureScheme === 'object' ? signatureScheme.header : tokenHeader;
}

/** Whether the log knows a captured request of a scheme again without an identity. One with the secret in it proves nothing anyway. */
export function isReplaySafe(signatureScheme: unknown): boolean {
  const { success, data } = customScheme.or(z.string()).safeParse(signatureScheme);
  const description = success ? describeScheme(data) : undefined;
  return !description || description.primitive === 'shared-secret' || isSignedOnce(description);
}

const ofMode = (mode: AuthMode) => ({ properties: { authMode: { const: mode } }, required: ['authMode'] });

/** The formats of bodies. `form` is `application/x-www-form-urlencoded`, whatever the Content-Type says. */
export const bodyFormats = ['json', 'form'] as const;

/** @limit Longest name of the field that has a form's payload, in characters: providers' names have fewer than 20. */
const payloadFieldCharactersMax = 100;

/** The contents of `webhooks/<name>.yaml`. */
export const webhookShape = z
  .strictObject({
    authMode: z
      .enum(authModes)
      .default('token')
      .describe('How senders authenticate.')
      .meta({
        enumDescriptions: [
          'The secret is a token in a header: by default, a bearer token.',
          'The secret is the last segment of the ingress URL.',
          'The sender signs each request with a signature scheme.',
          'The sender has a token of an OpenID Connect issuer, such as a CI job; there is no secret.',
        ],
      }),
    signatureScheme: z
      .union([schemeId, customScheme])
      .optional()
      .describe(
        'Only with authMode signature: the id of a signature scheme, or an object that describes an HMAC.',
      ),
    ...tokenKeys,
    ...oidcKeys,
    secretName: secretNameShape
      .optional()
      .describe('The team secret that holds the credential. Required, except with authMode oidc.')
      .meta({ examples: ['GITHUB_WEBHOOK'] }),
    bodyFormat: z
      .enum(bodyFormats)
      .optional()
      .describe('The format of request bodies. Without it, the one of the signature scheme; json for most.')
      .meta({
        enumDescriptions: ['The body is the payload.', 'The payload is made of the fields of a form.'],
      }),
    payloadField: z
      .string()
      .min(1)
      .max(payloadFieldCharactersMax)
      .optional()
      .describe('Only with forms: the field whose value is the payload, as JSON.')
      .meta({ examples: ['payload'] }),
    deliveryIdHeader: deliveryIdHeader
      .optional()
      .describe('The request header in which the sender puts its own event ID.'),
    deliveryIdField: deliveryIdField
      .optional()
      .describe(
        'The field of the payload in which the sender puts its own event ID, as a path: $.event.id. A list of paths identifies an event together.',
      )
      .meta({ examples: ['$.id', ['$.eventCode', '$.pspReference']] }),
    identity: identityShape
      .optional()
      .describe(
        'Deliveries without an ID: with none, each is a new one. By default, the same body is the same delivery.',
      )
      .meta({ examples: ['none', { sameBody: '10m' }] }),
    handshake: handshake
      .optional()
      .describe(
        'Only with a token mode: the question that the sender asks before it delivers, which hookmill answers.',
      )
      .meta({ examples: ['event-grid', { cloudevents: 'eventgrid.azure.net' }] }),
    keepHeaders: keepHeaders
      .optional()
      .describe('More request headers to keep of each delivery, for header filters and runs.')
      .meta({ examples: [['X-Tenant']] }),
    sender: senderShape
      .optional()
      .describe(
        'The hook at the provider that delivers to the webhook, so that it can be checked and registered.',
      )
      .meta({
        examples: [
          { provider: 'github', repository: 'acme/shop', credentialSecret: 'GITHUB_HOOKS_TOKEN' },
          { provider: 'gitlab', project: 'acme/shop', credentialSecret: 'GITLAB_HOOKS_TOKEN' },
        ],
      }),
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether the webhook accepts deliveries. If false, senders get 404.'),
  })
  .check(
    ...keyRules.map(({ holds, key, ...said }) =>
      z.refine<Readonly<Record<string, unknown>>>(holds, { ...always, path: [key], ...said }),
    ),
  )
  .superRefine(requirePinnedCaller)
  .superRefine((webhook, context) => {
    const own = findOwnCredentialHeader(webhook)?.toLowerCase();
    const { deliveryIdHeader, keepHeaders = [] } = webhook;
    const refuse = (path: PropertyKey[], name: string | undefined) => {
      if (name === undefined || name.toLowerCase() !== own || isCredentialHeader(name)) return;
      addMistake(context, path, describeCredential(name), credentialMistake);
    };
    refuse(['deliveryIdHeader'], deliveryIdHeader);
    for (const [index, name] of keepHeaders.entries()) refuse(['keepHeaders', index], name);
  })
  .meta({
    examples: [
      { secretName: 'DEPLOYS_TOKEN' },
      { authMode: 'signature', signatureScheme: 'github', secretName: 'GITHUB_WEBHOOK' },
      { authMode: 'oidc', issuer: 'github-actions', claims: { repository: ['acme/shop'] } },
    ],
    // The refinements above, for editors.
    allOf: [
      {
        if: ofMode('signature'),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['signatureScheme'], properties: { handshake: false } },
        else: { properties: { signatureScheme: false } },
      },
      {
        if: ofMode('oidc'),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['issuer', 'claims'], properties: { secretName: false } },
        else: { required: ['secretName'], properties: { issuer: false, audience: false, claims: false } },
      },
    ],
    not: { required: ['deliveryIdHeader', 'deliveryIdField'] },
  });

/** The keys of a webhook's definition, with their defaults. */
export type WebhookKeys = Readonly<z.output<typeof webhookShape>>;

export type WebhookDefinition = WebhookKeys & { readonly name: string };

/** The keys of a webhook that decide how its bodies become payloads. */
export interface FormattedWebhook {
  readonly bodyFormat?: (typeof bodyFormats)[number] | undefined;
  readonly payloadField?: string | undefined;
  readonly signatureScheme?: string | object | undefined;
}

/** Says how the forms of a webhook become payloads; undefined if its bodies are JSON. Its definition precedes its scheme. */
export function findFormFormat({
  bodyFormat,
  payloadField,
  signatureScheme,
}: FormattedWebhook): FormFormat | undefined {
  const scheme = findScheme(signatureScheme);
  if ((bodyFormat ?? scheme?.bodyFormat) !== 'form') return undefined;
  const field = payloadField ?? scheme?.payloadField;
  return field === undefined ? {} : { payloadField: field };
}

/** Returns the keys that a definition file writes: those that are set to another value than their default. */
export function pickWrittenKeys(webhook: WebhookKeys): Partial<WebhookKeys> {
  const keys = Object.entries(webhookShape.shape).flatMap(([key, shape]) => {
    const value: unknown = webhook[key as keyof WebhookKeys];
    return value === undefined || shape.safeParse(undefined).data === value ? [] : [[key, value] as const];
  });
  return Object.fromEntries(keys);
}
