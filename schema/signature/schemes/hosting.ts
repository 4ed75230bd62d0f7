import type { SignatureScheme } from '../description.ts';
import { base64OfBody, hexOfBody } from './shapes.ts';
import { standardWebhooks } from './standard.ts';

export const hostingSchemes: readonly SignatureScheme[] = [
  {
    id: 'vercel',
    provider: 'Vercel',
    kind: 'hosting',
    page: 'https://vercel.com/docs/webhooks/webhooks-api',
    secretLocation: 'shown once when the webhook is created; for an integration, its client secret',
    ...hexOfBody,
    hash: 'sha1',
    header: 'X-Vercel-Signature',
  },
  {
    id: 'render',
    provider: 'Render',
    kind: 'hosting',
    page: 'https://render.com/docs/webhooks',
    secretLocation: 'the webhook\'s page, under "Signing secret"',
    ...standardWebhooks,
  },
  {
    id: 'heroku',
    provider: 'Heroku',
    kind: 'hosting',
    page: 'https://devcenter.heroku.com/articles/app-webhooks',
    secretLocation: 'given or returned when the subscription is made: heroku webhooks:add --secret',
    ...base64OfBody,
    header: 'Heroku-Webhook-Hmac-SHA256',
  },
  {
    id: 'circleci',
    provider: 'CircleCI',
    kind: 'ci',
    page: 'https://circleci.com/docs/guides/integration/outbound-webhooks/',
    secretLocation: 'you choose it, in the field "Secret token" of the webhook',
    ...hexOfBody,
    header: 'circleci-signature',
    list: { separator: ',', keyValueSeparator: '=', key: 'v1' },
  },
  {
    id: 'buildkite',
    provider: 'Buildkite',
    kind: 'ci',
    page: 'https://buildkite.com/docs/apis/webhooks/pipelines#webhook-signature',
    secretLocation: 'the notification service\'s "Token"; choose to send it as a signature',
    note: 'Buildkite advises a window and gives five minutes as its example.',
    ...hexOfBody,
    header: 'X-Buildkite-Signature',
    list: { separator: ',', keyValueSeparator: '=', key: 'signature' },
    content: '{timestamp}.{body}',
    timestamp: { field: 'timestamp', unit: 's', toleranceSeconds: 300 },
  },
];
