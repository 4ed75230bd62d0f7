import { z } from 'zod';
import type { NewReceiver } from '../../operations/attention/alerts.ts';
import { secretNameShape } from '../../schema/definitions/value-shapes.ts';
import { receiverUrl } from '../setting-shapes.ts';

/** @limit Receivers of alerts: each gets every one. */
const receiversMax = 10;

const standardWebhooks = z.strictObject({
  format: z.literal('standard-webhooks').optional(),
  url: receiverUrl.describe('URL that alerts are posted to.'),
  secret: secretNameShape.describe(
    'Team secret that alerts are signed with, as Standard Webhooks says (whsec_…).',
  ),
});

const slack = z.strictObject({
  format: z.literal('slack'),
  secret: secretNameShape.describe('Team secret whose value is the URL of an incoming webhook of Slack.'),
});

const pagerduty = z.strictObject({
  format: z.literal('pagerduty'),
  url: receiverUrl
    .default('https://events.pagerduty.com/v2/enqueue')
    .describe('URL of the Events API v2. In the EU: https://events.eu.pagerduty.com/v2/enqueue.'),
  secret: secretNameShape.describe('Team secret whose value is the integration key of a PagerDuty service.'),
});

const receiverShape = z.discriminatedUnion('format', [standardWebhooks, slack, pagerduty]);

/** The key `alerts` of the daemon's configuration file. */
export const alertSettingsShape = z.array(receiverShape).max(receiversMax).default([]);

export type AlertReceiver = z.output<typeof receiverShape>;

/**
 * Names a receiver in what is stored of a message, by its team secret too: services of PagerDuty share a URL, and the URL of
 * Slack is a secret.
 */
export function nameReceiver(receiver: AlertReceiver): string {
  const { format = 'standard-webhooks', secret } = receiver;
  return `${format} ${secret} ${'url' in receiver ? receiver.url : ''}`.trimEnd();
}

/** Describes a receiver for lists, without its URL: that may contain a secret. */
export function describeReceiver(receiver: AlertReceiver): NewReceiver {
  const { format = 'standard-webhooks', secret } = receiver;
  const host = 'url' in receiver ? new URL(receiver.url).host : null;
  return { name: nameReceiver(receiver), format, host, secret };
}
