import type { SuccessStatus } from '../description.ts';

const read = { status: 200, on: '2026-11-25' } as const;

/**
 * The schemes whose provider asks for 200, by their IDs. Every other scheme is answered with 202, also where the
 * documentation asks for any 2xx.
 */
export const successStatuses: Readonly<Record<string, SuccessStatus>> = {
  airwallex: {
    ...read,
    reason: 'any response other than 200 is a failed delivery',
    source: 'https://www.airwallex.com/docs/developer-tools/webhooks/webhooks-overview',
  },
  cashfree: {
    ...read,
    reason: 'retries go on until a 200',
    source: 'https://docs.cashfree.com/docs/webhook-resend-retry',
  },
  'coinbase-commerce': {
    ...read,
    reason: 'a 200 acknowledges the receipt; without it, the delivery is retried',
    source: 'https://docs.cloud.coinbase.com/commerce-onchain/docs/webhooks',
  },
  elevenlabs: {
    ...read,
    reason: 'the receiver returns 200; repeated failures disable the webhook',
    source: 'https://elevenlabs.io/docs/product-guides/administration/webhooks',
  },
  lemonsqueezy: {
    ...read,
    reason: 'anything but a 200 is retried',
    source: 'https://docs.lemonsqueezy.com/help/webhooks/webhook-requests',
  },
  line: {
    ...read,
    reason: 'a status other than 200 counts as an error of the bot server',
    source: 'https://developers.line.biz/en/docs/partner-docs/error-notification/',
  },
  linear: {
    ...read,
    reason: 'anything but a 200 is retried',
    source: 'https://linear.app/developers/webhooks',
  },
  meta: {
    ...read,
    reason: 'the endpoint responds to all event notifications with 200 OK',
    source: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
  },
  okta: {
    ...read,
    reason: 'a response has the status 200 or 204',
    source: 'https://developer.okta.com/docs/concepts/event-hooks/',
  },
  plane: {
    ...read,
    reason: 'anything but a 200 is retried',
    source: 'https://developers.plane.so/webhooks/intro-webhooks',
  },
  'slack-forms': {
    ...read,
    isEmpty: true,
    reason:
      'an app replies to an interaction with 200, or the user sees an error; a body is a message to the user',
    source: 'https://docs.slack.dev/interactivity/handling-user-interaction/',
  },
  x: {
    ...read,
    reason: 'a 200 acknowledges an event',
    source: 'https://docs.x.com/x-api/webhooks/introduction',
  },
  zoom: {
    ...read,
    reason: 'the endpoint responds with 200 or 204',
    source: 'https://devsupport.zoom.us/hc/en-us/articles/360059893812-Webhook-delays',
  },
};
