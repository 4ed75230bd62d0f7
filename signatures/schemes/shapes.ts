/** @limit Largest age of a signature's timestamp, and largest clock skew ahead, in seconds: payment providers and Standard Webhooks ask for five minutes. */
export const signatureAgeSecondsMax = 300;

/** The most common shape: HMAC-SHA256 of the body, in hex. */
export const hexOfBody = {
  primitive: 'hmac',
  hash: 'sha256',
  encoding: 'hex',
  content: '{body}',
} as const;

/** The same in base64. */
export const base64OfBody = { ...hexOfBody, encoding: 'base64' } as const;

/** A header `t=…,v1=…` over the timestamp, a dot and the body, as Stripe sends it. */
export const stripeLike = {
  ...hexOfBody,
  list: { separator: ',', keyValueSeparator: '=', key: 'v1' },
  content: '{timestamp}.{body}',
} as const;

const standardNames = {
  header: 'webhook-signature',
  timestampHeader: 'webhook-timestamp',
  idHeader: 'webhook-id',
};
const svixNames = { header: 'svix-signature', timestampHeader: 'svix-timestamp', idHeader: 'svix-id' };

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, section "Signature scheme". */
export const standardWebhooks = {
  primitive: 'hmac',
  hash: 'sha256',
  encoding: 'base64',
  header: standardNames.header,
  list: { separator: ' ', keyValueSeparator: ',', key: 'v1' },
  content: '{id}.{timestamp}.{body}',
  timestamp: {
    header: standardNames.timestampHeader,
    unit: 's',
    toleranceSeconds: signatureAgeSecondsMax,
  },
  idHeader: standardNames.idHeader,
  alternatives: [svixNames],
  key: { stripPrefix: 'whsec_', encoding: 'base64' },
  asymmetric: {
    primitive: 'ed25519',
    encoding: 'base64',
    list: { separator: ' ', keyValueSeparator: ',', key: 'v1a' },
    key: { publicPrefix: 'whpk_', privatePrefix: 'whsk_', encoding: 'base64' },
  },
} as const;

/** Svix signs in the same way under its own header names, or under the standard's if a customer asks for it. */
export const svix = {
  ...standardWebhooks,
  header: svixNames.header,
  timestamp: { ...standardWebhooks.timestamp, header: svixNames.timestampHeader },
  idHeader: svixNames.idHeader,
  alternatives: [standardNames],
} as const;
