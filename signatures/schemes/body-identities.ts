import type { BodyIdentity } from '../description.ts';

/**
 * What identifies the deliveries of the schemes of which no header does, by the ID of the scheme. A field is here only if it
 * belongs to the event and not to the object of the event, and if retries keep it as far as the provider says.
 */
export const bodyIdentities: Readonly<Record<string, BodyIdentity>> = {
  'azure-devops': {
    field: '$.id',
    reason: 'Azure DevOps calls it the unique ID of the event; `notificationId` counts for each subscription',
    source: 'https://learn.microsoft.com/en-us/azure/devops/service-hooks/events',
    on: '2026-11-25',
  },
  vercel: {
    reason: 'Vercel calls `$.id` the ID of the delivery, and does not say whether a retry keeps it',
    source: 'https://vercel.com/docs/webhooks/webhooks-api',
    on: '2026-11-25',
  },
  heroku: {
    field: '$.webhook_metadata.event.id',
    reason: 'the ID of the event; each attempt has another `$.webhook_metadata.attempt.id`',
    source: 'https://devcenter.heroku.com/articles/app-webhooks-schema',
    on: '2026-11-25',
  },
  planetscale: {
    reason: 'the body has no ID of the event',
    source: 'https://planetscale.com/docs/api/webhook-events',
    on: '2026-11-25',
  },
  appwrite: {
    reason: 'the body is the changed object; Appwrite sends it once',
    source: 'appwrite at 004a38ed, src/Appwrite/Platform/Workers/Webhooks.php',
    on: '2026-11-25',
  },
  'terraform-cloud': {
    reason: 'many events share the only IDs, which are of the run and of the configuration',
    source: 'hashicorp/terraform-docs-common at 0fcd6fdd',
    on: '2026-11-25',
  },
  tailscale: {
    reason: 'the body is a list of events without IDs',
    source: 'https://tailscale.com/kb/1213/webhooks',
    on: '2026-11-25',
  },
  pulumi: { reason: 'the body has no ID of the event', source: 'pulumi/docs at 21cb825d', on: '2026-11-25' },
  circleci: {
    field: '$.id',
    reason: 'CircleCI says that it identifies each event, for deduplication',
    source: 'https://circleci.com/docs/reference/webhooks/',
    on: '2026-11-25',
  },
  buildkite: {
    reason: 'many events share the only IDs, which are of the build, job or agent',
    source: 'buildkite/docs at 382ba850',
    on: '2026-11-25',
  },
  'expo-eas': {
    reason: 'many events may share the only ID, which is of the build or submission',
    source: 'https://docs.expo.dev/eas/webhooks/',
    on: '2026-11-25',
  },
  flux: {
    reason: 'the event has no ID; a retry sends the same bytes',
    source: 'fluxcd/notification-controller at 1f5d108d',
    on: '2026-11-25',
  },
  sonarqube: {
    reason: 'the body has no ID of the event; SonarQube sends it once',
    source: 'SonarSource/sonarqube at 0316e0b8',
    on: '2026-11-25',
  },
  snyk: {
    reason: 'the body has no ID of the event',
    source: 'https://docs.snyk.io/snyk-api/using-specific-snyk-apis/webhooks-apis/webhooks',
    on: '2026-11-25',
  },
  launchdarkly: {
    field: '$._id',
    reason: 'the body is the entry of the audit log, and this is its ID',
    source: 'https://launchdarkly.com/docs/api/webhooks',
    on: '2026-11-25',
  },
  flagsmith: {
    reason: 'the body has no ID of the event; a retry sends the same data',
    source: 'Flagsmith/flagsmith at 0a23ac97, api/webhooks/webhooks.py',
    on: '2026-11-25',
  },
  sentry: {
    reason: 'the IDs in the body are of issues, errors and alerts, which many events share',
    source: 'getsentry/sentry at 000127db',
    on: '2026-11-25',
  },
  rootly: {
    field: '$.event.id',
    reason: 'the event has an ID of its own beside the ID of its object',
    source: 'https://docs.rootly.com/configuration/event-payloads',
    on: '2026-11-25',
  },
  grafana: {
    reason: 'many notifications share the only IDs, `groupKey` and `fingerprint`',
    source: 'grafana/grafana at 06bab5c0',
    on: '2026-11-25',
  },
  'grafana-timestamp': {
    reason: 'many notifications share the only IDs, `groupKey` and `fingerprint`',
    source: 'grafana/grafana at 06bab5c0',
    on: '2026-11-25',
  },
  checkly: {
    reason: 'the body is a template of the user',
    source: 'https://www.checklyhq.com/docs/alerting-and-retries/webhooks/',
    on: '2026-11-25',
  },
  'mongodb-atlas': {
    reason: 'the only ID is of the alert, which is sent again whenever its state changes',
    source: 'https://www.mongodb.com/docs/atlas/tutorial/webhook-integration/',
    on: '2026-11-25',
  },
  stripe: {
    field: '$.id',
    reason: 'Stripe calls it the unique ID of the event; `pending_webhooks` may differ in a retry',
    source: 'https://docs.stripe.com/api/events/object',
    on: '2026-11-25',
  },
  paddle: {
    field: '$.event_id',
    reason: 'Paddle calls it the unique ID of the event; a replay has another `notification_id`',
    source: 'https://developer.paddle.com/webhooks',
    on: '2026-11-25',
  },
  square: {
    field: '$.event_id',
    reason: 'Square calls it the unique ID of the event',
    source: 'https://developer.squareup.com/reference/square/webhooks/order.created',
    on: '2026-11-25',
  },
  lemonsqueezy: {
    reason: 'the only ID is of the order or subscription',
    source: 'https://docs.lemonsqueezy.com/help/webhooks/webhook-requests',
    on: '2026-11-25',
  },
  'coinbase-commerce': {
    field: '$.event.id',
    reason: 'the ID of the event; `attempt_number` differs in a retry',
    source: 'https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-fields',
    on: '2026-11-25',
  },
  'adyen-platform': {
    reason: 'the only ID is of the object',
    source: 'https://docs.adyen.com/api-explorer/balanceplatform-webhooks/2/overview',
    on: '2026-11-25',
  },
  orb: {
    field: '$.id',
    reason: 'Orb says that it is unique to the event, for idempotency',
    source: 'https://docs.withorb.com/integrations-and-exports/webhooks',
    on: '2026-11-25',
  },
  recurly: {
    reason: 'many events share the only IDs, which are of the account, subscription or invoice',
    source: 'https://docs.recurly.com/recurly-subscriptions/docs/notifications',
    on: '2026-11-25',
  },
  gocardless: {
    reason: 'the body is a list of events, each with an ID of its own',
    source: 'https://developer.gocardless.com/api-reference/#appendix-webhooks',
    on: '2026-11-25',
  },
  'modern-treasury': {
    reason: 'the body has no ID of the event',
    source: 'https://docs.moderntreasury.com/reference/webhooks',
    on: '2026-11-25',
  },
  creem: {
    field: '$.id',
    reason: 'Creem calls it the unique ID of the event',
    source: 'https://docs.creem.io/api-reference/endpoint/acknowledge-webhook-event',
    on: '2026-11-25',
  },
  cashfree: {
    reason: 'several events share the only ID, which is of the payment',
    source: 'https://www.cashfree.com/docs/api-reference/payments/latest/webhooks/idempotency',
    on: '2026-11-25',
  },
  chargily: {
    field: '$.id',
    reason: 'the body is an event with an ID of its own',
    source: 'https://dev.chargily.com/pay-v2/webhooks',
    on: '2026-11-25',
  },
  coinify: {
    field: '$.id',
    reason: 'Coinify says that retries of an event share it',
    source: 'https://coinify.readme.io/docs/webhook-structure',
    on: '2026-11-25',
  },
  revolut: {
    reason: 'the body has only the name of the event and the ID of the order',
    source:
      'https://developer.revolut.com/docs/guides/accept-payments/tutorials/work-with-webhooks/using-webhooks',
    on: '2026-11-25',
  },
  mollie: {
    field: '$.id',
    reason: 'the ID of the event, by which the API returns it',
    source: 'https://docs.mollie.com/reference/webhooks-new',
    on: '2026-11-25',
  },
  btcpay: {
    field: '$.originalDeliveryId',
    reason: 'BTCPay keeps it in each redelivery, in which `deliveryId` and `isRedelivery` differ',
    source: 'btcpayserver/btcpayserver at 1633275d, WebhookProviderHostedService.cs',
    on: '2026-11-25',
  },
  airwallex: {
    field: '$.id',
    reason: 'Airwallex says that each event has a stable ID, to handle retries',
    source: 'https://www.airwallex.com/docs/developer-tools/webhooks/webhooks-overview',
    on: '2026-11-25',
  },
  'checkout-com': {
    field: '$.id',
    reason: 'the ID of the event, by which the API returns it',
    source: 'https://www.checkout.com/docs/developer-resources/webhooks',
    on: '2026-11-25',
  },
  coinflow: {
    reason: 'the body has no ID of the event',
    source: 'https://docs.coinflow.cash/guides/developer-resources/webhooks',
    on: '2026-11-25',
  },
  alchemy: {
    field: '$.id',
    reason: 'Alchemy calls it the ID of the event',
    source: 'https://www.alchemy.com/docs/reference/notify-api-quickstart',
    on: '2026-11-25',
  },
  asana: {
    reason: 'the body is a list of events without IDs',
    source: 'https://developers.asana.com/docs/webhooks-guide',
    on: '2026-11-25',
  },
  clickup: {
    field: ['$.webhook_id', '$.event', '$.history_items[0].id'],
    reason: 'ClickUp names the webhook and the history item as the key for idempotency',
    source: 'https://developer.clickup.com/docs/webhooks',
    on: '2026-11-25',
  },
  trello: {
    field: '$.action.id',
    reason: 'the ID of the action, which is one change',
    source: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/action-types/',
    on: '2026-11-25',
  },
  plane: {
    field: '$.event_id',
    reason: 'Plane says that it is the same in retries, for deduplication; older versions do not send it',
    source: 'makeplane/developer-docs, docs/dev-tools/intro-webhooks.md',
    on: '2026-11-25',
  },
  openproject: {
    reason: 'the body has no ID of the event; a job that runs again renders another body',
    source: 'opf/openproject, modules/webhooks/app/workers/represented_webhook_job.rb',
    on: '2026-11-25',
  },
  taiga: {
    reason: 'the body has no ID of the event; Taiga sends it once, and again by hand',
    source: 'taigaio/taiga-back, taiga/webhooks/tasks.py',
    on: '2026-11-25',
  },
  notion: {
    field: '$.id',
    reason: 'Notion calls it the unique ID of the event; `attempt_number` differs in a retry',
    source: 'https://developers.notion.com/reference/webhooks-events-delivery',
    on: '2026-11-25',
  },
  dropbox: {
    reason: 'the body lists only the accounts in which something changed',
    source: 'https://www.dropbox.com/developers/reference/webhooks',
    on: '2026-11-25',
  },
  docusign: {
    hashWithout: 'retryCount',
    reason: 'the IDs are of the envelope and the configuration; only the number of the retry differs',
    source: 'https://developers.docusign.com/platform/webhooks/connect/',
    on: '2026-11-25',
  },
  typeform: {
    field: '$.event_id',
    reason: 'Typeform calls it the unique ID of the webhook, by which retries are recognised',
    source: 'https://www.typeform.com/developers/webhooks/example-payload/',
    on: '2026-11-25',
  },
  calendly: {
    reason: 'the body has only the addresses of the invitee and the event',
    source: 'https://developer.calendly.com/api-docs/overview/webhooks/',
    on: '2026-11-25',
  },
  'cal-com': {
    reason: 'the only ID is of the booking',
    source: 'calcom/cal.com, packages/features/webhooks/lib/sendPayload.ts',
    on: '2026-11-25',
  },
  box: {
    field: '$.id',
    reason: 'Box calls it the unique ID of the event, which retries keep',
    source: 'https://developer.box.com/guides/webhooks/v2/',
    on: '2026-11-25',
  },
  cronofy: {
    reason: 'the body has only the ID of the channel and the time since which something changed',
    source: 'https://docs.cronofy.com/developers/api/push-notifications/',
    on: '2026-11-25',
  },
  nango: {
    reason: 'the body has no ID of the event; a retry sends the same text',
    source: 'NangoHQ/nango, packages/webhooks/lib/utils.ts',
    on: '2026-11-25',
  },
  hubspot: {
    hashWithout: 'attemptNumber',
    reason:
      'the body is a list of events whose `eventId` HubSpot does not guarantee to be unique; only the number of the attempt differs',
    source: 'https://developers.hubspot.com/docs/api/webhooks',
    on: '2026-11-25',
  },
  helpscout: {
    reason: 'the body is the conversation or the customer',
    source: 'https://developer.helpscout.com/webhooks/',
    on: '2026-11-25',
  },
  'front-rule': {
    field: '$.id',
    reason: 'the body is an event, and this is its ID',
    source: 'https://dev.frontapp.com/docs/webhooks-1',
    on: '2026-11-25',
  },
  woocommerce: {
    reason: 'the body is the order or the product',
    source: 'https://woocommerce.com/document/webhooks/',
    on: '2026-11-25',
  },
  easypost: {
    field: '$.id',
    reason: 'EasyPost calls it the unique ID of the event; `pending_urls` may differ in a retry',
    source: 'https://docs.easypost.com/docs/events',
    on: '2026-11-25',
  },
  fourthwall: {
    field: '$.id',
    reason: 'Fourthwall says that events with the same ID are duplicates',
    source: 'https://docs.fourthwall.com/webhooks/webhook-model/',
    on: '2026-11-25',
  },
  slack: {
    field: '$.event_id',
    reason: 'Slack calls it the unique ID of the event, across all workspaces',
    source: 'https://docs.slack.dev/apis/events-api/',
    on: '2026-11-25',
  },
  'slack-forms': {
    reason: 'Slack sends a command or an interaction once, and its `trigger_id` is in no other body',
    source: 'https://docs.slack.dev/interactivity/implementing-slash-commands/',
    on: '2026-11-25',
  },
  discord: {
    reason: 'the IDs are of the app and of objects',
    source: 'https://docs.discord.com/developers/events/webhook-events',
    on: '2026-11-25',
  },
  zoom: {
    reason: 'the body has no ID of the event',
    source: 'https://developers.zoom.us/docs/api/webhooks/',
    on: '2026-11-25',
  },
  line: {
    hashWithout: 'isRedelivery',
    reason: 'the body is a list of events; only the mark of a redelivery differs',
    source: 'https://developers.line.biz/en/reference/messaging-api/#common-properties',
    on: '2026-11-25',
  },
  meta: {
    reason: 'the body is a list of entries with the IDs of objects',
    source: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    on: '2026-11-25',
  },
  x: {
    reason: 'the IDs are of posts, messages and users',
    source: 'https://docs.x.com/x-api/account-activity/introduction',
    on: '2026-11-25',
  },
  telnyx: {
    field: '$.data.id',
    reason: 'Telnyx keeps the attempts under this ID of the event; `meta.attempt` differs in a retry',
    source: 'https://developers.telnyx.com/api-reference/webhooks/find-webhook_delivery-details-by-id',
    on: '2026-11-25',
  },
  pusher: {
    reason: 'the body has no ID',
    source: 'https://pusher.com/docs/channels/server_api/webhooks/',
    on: '2026-11-25',
  },
  discourse: {
    reason: 'the body has no ID of the event; a retry sends the same payload',
    source: 'discourse/discourse, app/jobs/regular/emit_web_hook_event.rb',
    on: '2026-11-25',
  },
  mandrill: {
    reason: 'the payload is a list of events, each with an ID of its own',
    source: 'https://mailchimp.com/developer/transactional/docs/webhooks/',
    on: '2026-11-25',
  },
  sendgrid: {
    reason: 'the body is a list of events, each with an ID of its own',
    source: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event',
    on: '2026-11-25',
  },
  workos: {
    field: '$.id',
    reason: 'the ID of the event; WorkOS retries the event',
    source: 'https://workos.com/docs/events/data-syncing/webhooks',
    on: '2026-11-25',
  },
  okta: {
    reason: 'the body is a list of events; Okta names the ID of each to find duplicates',
    source: 'https://developer.okta.com/docs/concepts/event-hooks/',
    on: '2026-11-25',
  },
  auth0: {
    reason: 'the body is a list of log events, each with an ID of its own',
    source: 'https://auth0.com/docs/customize/log-streams/custom-log-streams',
    on: '2026-11-25',
  },
  logto: {
    reason: 'the body has no ID of the event; a retry sends the same body',
    source: 'logto-io/logto, packages/core/src/libraries/hook/utils.ts',
    on: '2026-11-25',
  },
  onfido: {
    reason: 'many events share the only ID, which is of the check or the workflow run',
    source: 'https://documentation.identity.entrust.com/api/webhooks/',
    on: '2026-11-25',
  },
  persona: {
    field: '$.data.id',
    reason: 'the body is an event with an ID of its own, which Persona says to log',
    source: 'https://docs.withpersona.com/docs/webhooks-best-practices',
    on: '2026-11-25',
  },
  idenfy: {
    reason: 'several webhooks of one verification share the only ID, `scanRef`',
    source: 'https://documentation.idenfy.com/kyc/webhooks',
    on: '2026-11-25',
  },
  webflow: {
    reason: 'the IDs are of objects',
    source: 'https://developers.webflow.com/data/docs/working-with-webhooks',
    on: '2026-11-25',
  },
  mux: {
    field: '$.id',
    reason: 'Mux calls it the unique ID of the event; each retry adds to `attempts`',
    source: 'muxinc/mux-node-sdk, src/resources/webhooks',
    on: '2026-11-25',
  },
  'kontent-ai': {
    reason: 'the body is a list of notifications with the IDs of objects',
    source: 'https://kontent.ai/learn/docs/webhooks/webhooks/javascript',
    on: '2026-11-25',
  },
  ghost: {
    reason: 'the body is the post or the page; a retry sends the same',
    source: 'TryGhost/Ghost, ghost/core/core/server/services/webhooks/webhook-trigger.js',
    on: '2026-11-25',
  },
  'cloudflare-stream': {
    reason: 'its notifications share the only ID, which is of the video',
    source: 'https://developers.cloudflare.com/stream/manage-video-library/using-webhooks/',
    on: '2026-11-25',
  },
  firecrawl: {
    field: '$.webhookId',
    reason: 'made once for each event, for retries; `$.id` is of the job',
    source: 'firecrawl/firecrawl at 3b844de, apps/api/src/services/webhook/delivery.ts',
    on: '2026-11-25',
  },
  elevenlabs: {
    reason: 'the only ID is of the conversation',
    source: 'https://elevenlabs.io/docs/eleven-api/resources/webhooks',
    on: '2026-11-25',
  },
  retell: {
    reason: 'the events of one call share the only ID, `call_id`',
    source: 'https://docs.retellai.com/features/webhook-overview',
    on: '2026-11-25',
  },
};
