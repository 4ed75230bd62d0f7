import type { SignatureScheme } from '../description.ts';
import { hexOfBody, stripeLike } from './shapes.ts';
import { standardWebhooks } from './standard.ts';

/** Error tracking and incident management. */
export const operationsSchemes: readonly SignatureScheme[] = [
  {
    id: 'sentry',
    provider: 'Sentry',
    kind: 'error tracking',
    page: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks/',
    secretLocation: 'the integration\'s page, under "Client Secret"',
    note: 'Sentry does not sign its timestamp header, so there is no replay window.',
    ...hexOfBody,
    header: 'Sentry-Hook-Signature',
  },
  {
    id: 'pagerduty',
    provider: 'PagerDuty',
    kind: 'incident management',
    page: 'https://developer.pagerduty.com/docs/verifying-webhook-signatures',
    secretLocation: 'returned once when the v3 webhook subscription is created',
    ...hexOfBody,
    header: 'X-PagerDuty-Signature',
    list: { separator: ',', keyValueSeparator: '=', key: 'v1' },
    deliveryIdHeader: 'X-Webhook-Id',
  },
  {
    id: 'incident-io',
    provider: 'incident.io',
    kind: 'incident management',
    page: 'https://docs.incident.io/integrations/webhooks',
    secretLocation: 'the endpoint\'s page, under "Signing secret"; it begins with whsec_',
    ...standardWebhooks,
  },
  {
    id: 'rootly',
    provider: 'Rootly',
    kind: 'incident management',
    page: 'https://docs.rootly.com/configuration/webhooks',
    secretLocation: 'the webhook endpoint\'s "Secret"',
    ...stripeLike,
    header: 'X-Rootly-Signature',
    content: '{timestamp}{body}',
    timestamp: { field: 't', unit: 's' },
  },
  {
    id: 'grafana',
    provider: 'Grafana Alerting',
    kind: 'incident management',
    page: 'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
    secretLocation: 'you choose it, in the contact point\'s "HMAC signature", field "Secret"',
    note: 'For a contact point with the default signature header and no timestamp header.',
    ...hexOfBody,
    header: 'X-Grafana-Alerting-Signature',
  },
  {
    id: 'grafana-timestamp',
    provider: 'Grafana Alerting (timestamp)',
    kind: 'incident management',
    page: 'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
    secretLocation: 'you choose it, in the contact point\'s "HMAC signature", field "Secret"',
    note: "Set the contact point's timestamp header to X-Timestamp.",
    ...hexOfBody,
    header: 'X-Grafana-Alerting-Signature',
    content: '{timestamp}:{body}',
    timestamp: { header: 'X-Timestamp', unit: 's' },
  },
];
