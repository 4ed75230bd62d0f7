import type { ProviderRetries } from '../description.ts';

const read = { on: '2026-11-27' } as const;

const gitLab: ProviderRetries = {
  ...read,
  text: 'GitLab never retries by itself, and disables a hook that keeps failing. It keeps its log for 7 days: `hookmill senders missed shop`, or "Resend Request" in the recent events of the hook',
  source: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
};

/**
 * Whether and for how long providers retry by themselves, and how to make them send again, by the IDs of schemes: what their
 * own pages say. Nothing is known of the others.
 */
export const providerRetries: Readonly<Record<string, ProviderRetries>> = {
  github: {
    ...read,
    text: 'GitHub never retries by itself. It keeps its log for 3 days: `hookmill senders missed shop`, or "Redeliver" in the recent deliveries of the hook',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries',
  },
  'gitlab-signing-token': gitLab,
  'gitlab-token': gitLab,
  'adyen-platform': {
    ...read,
    text: 'three times at once, then for up to 30 days, at intervals of up to 8 hours; "Retry" in the Customer Area sends again',
    source: 'https://docs.adyen.com/development-resources/webhooks/troubleshoot',
  },
  asana: {
    ...read,
    text: 'for up to 24 hours; delivered events cannot be sent again',
    source: 'https://developers.asana.com/docs/webhooks-guide',
  },
  box: {
    ...read,
    text: 'up to 10 times, first after 5 minutes, then less and less often',
    source: 'https://box.dev/en/guides/webhooks/handle/retries/',
  },
  calendly: {
    ...read,
    text: 'for 24 hours, less and less often; then the subscription is disabled, and must be created again',
    source:
      'https://community.calendly.com/developer-faq-62/why-am-i-not-receiving-webhook-data-how-does-a-webhook-become-disabled-548',
  },
  contentful: {
    ...read,
    text: 'up to twice by default, 30 seconds apart; some plans can set up to 99 retries, in about 24 hours',
    source: 'https://www.contentful.com/developers/docs/webhooks/retry-policy/',
  },
  gocardless: {
    ...read,
    text: 'up to 8 times, at increasing intervals; the action `retry` of a webhook in the API sends it again',
    source: 'https://support.gocardless.com/hc/en-nz/articles/360000989989-Webhook-retries-failures',
  },
  heroku: {
    ...read,
    text: 'for 72 hours; the API lists the deliveries of 7 days, at most 300',
    source: 'https://devcenter.heroku.com/changelog-items/1966',
  },
  jira: {
    ...read,
    text: 'Jira Cloud retries after no answer, 408, 409, 425, 429 and 5xx, for up to about 30 minutes',
    source: 'https://community.developer.atlassian.com/t/new-jira-cloud-webhook-retry-policy/30554',
  },
  paddle: {
    ...read,
    text: 'up to 60 times in 3 days for live accounts; then a notification can be replayed with the API',
    source: 'https://developer.paddle.com/webhooks/about/respond-to-webhooks',
  },
  razorpay: {
    ...read,
    text: 'for 24 hours, less and less often; then the webhook is disabled, until somebody enables it in the Dashboard',
    source: 'https://razorpay.com/docs/webhooks/best-practices',
  },
  recurly: {
    ...read,
    text: 'up to 10 times, at increasing intervals',
    source: 'https://docs.recurly.com/recurly-subscriptions/docs/automatic-retries',
  },
  resend: {
    ...read,
    text: '7 times in about 28 hours; "Replay" on the page of a message sends it again',
    source: 'https://resend.com/docs/webhooks/retries-and-replays',
  },
  sanity: {
    ...read,
    text: 'twice after 429 and 5xx, 30 seconds apart',
    source: 'https://www.sanity.io/docs/changelog/50ec6abf-fe0c-475b-ae72-314148860132',
  },
  sendgrid: {
    ...read,
    text: 'for up to 24 hours after the event, at increasing intervals',
    source: 'https://docs.sendgrid.com/for-developers/tracking-events/troubleshooting',
  },
  shopify: {
    ...read,
    text: '8 times in 4 hours, to the address that the subscription had when the event happened',
    source: 'https://shopify.dev/changelog/updates-to-webhook-retry-mechanism',
  },
  slack: {
    ...read,
    text: '3 times: almost at once, after 1 minute and after 5 minutes',
    source: 'https://docs.slack.dev/apis/events-api/',
  },
  square: {
    ...read,
    text: 'for up to 24 hours; then the notification is discarded, and the Events API has the event',
    source: 'https://developer.squareup.com/docs/webhooks/troubleshooting',
  },
  stripe: {
    ...read,
    text: 'for up to 3 days; `GET /v1/events?delivery_success=false` lists what did not arrive, for 30 days',
    source: 'https://docs.stripe.com/webhooks/process-undelivered-events',
  },
  svix: {
    ...read,
    text: '7 times in about 28 hours; an endpoint whose attempts all fail for 5 days is disabled',
    source: 'https://docs.svix.com/retries',
  },
  webflow: {
    ...read,
    text: 'at most 3 attempts',
    source: 'https://developers.webflow.com/changelog/webhook-retries',
  },
  zoom: {
    ...read,
    text: '3 times: after 5 minutes, 20 more and 60 more',
    source: 'https://developers.zoom.us/blog/webhook-delays',
  },
};
