import type { SignatureScheme } from '../description.ts';
import { base64OfBody } from './shapes.ts';

/** Support, sales and commerce. */
export const customerSchemes: readonly SignatureScheme[] = [
  {
    id: 'zendesk',
    provider: 'Zendesk',
    kind: 'support and sales',
    page: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
    secretLocation: 'the webhook\'s page, under "Signing secret"',
    secretCommand: 'declare',
    checked: { on: '2026-11-21', against: "Zendesk's documentation of webhooks" },
    note: 'Save the webhook before you test it: Zendesk signs earlier tests with a public secret, so they are refused.',
    ...base64OfBody,
    header: 'X-Zendesk-Webhook-Signature',
    content: '{timestamp}{body}',
    timestamp: { header: 'X-Zendesk-Webhook-Signature-Timestamp', unit: 'iso8601' },
    deliveryIdHeader: 'X-Zendesk-Webhook-Invocation-Id',
  },
  {
    id: 'hubspot',
    provider: 'HubSpot',
    kind: 'support and sales',
    page: 'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests',
    secretLocation: 'the app\'s page, under "Client secret"',
    secretCommand: 'set',
    checked: { on: '2026-11-21', against: '@hubspot/api-client 13.5.0' },
    note: 'Signature version 3. The signature covers the URL: enter the ingress URL exactly as hookmill prints it.',
    ...base64OfBody,
    header: 'X-HubSpot-Signature-v3',
    content: '{method}{url}{body}{timestamp}',
    timestamp: { header: 'X-HubSpot-Request-Timestamp', unit: 'ms', toleranceSeconds: 300 },
  },
  {
    id: 'shopify',
    provider: 'Shopify',
    kind: 'commerce',
    page: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    secretLocation: "the app's client secret; for webhooks created in the admin, see Notifications, Webhooks",
    secretCommand: 'set',
    checked: { on: '2026-11-21', against: '@shopify/shopify-api 13.1.0' },
    ...base64OfBody,
    header: 'X-Shopify-Hmac-Sha256',
    deliveryIdHeader: 'X-Shopify-Webhook-Id',
    alternatives: [{ header: 'shopify-hmac-sha256', deliveryIdHeader: 'shopify-webhook-id' }],
  },
];
