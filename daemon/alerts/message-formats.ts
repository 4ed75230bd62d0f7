import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AlertType } from '../../schema/alerts.ts';
import { describeScheme } from '../../signatures/schemes.ts';
import { signRequest } from '../../signatures/sign.ts';
import type { AlertMessage } from '../../store/ports/alerts.ts';
import type { AlertReceiver } from './alert-settings.ts';

/** A request that carries a message to its receiver. */
interface AlertRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The parts of a message's body that the formats use; `renderAlert` writes it. */
interface AlertBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    readonly status: keyof typeof titles;
    readonly summary: string;
    readonly factory: string | null;
    readonly remedy: string | null;
    readonly link: string;
  };
}

/** The prefix of messages that people read. */
const titles = { open: 'Alert', resolved: 'Resolved', succeeded: 'Run succeeded', failed: 'Run failed' };

/** @limit Longest summary that PagerDuty accepts, in characters. */
const pagerdutySummaryCharsMax = 1_024;

/** Renders a message in the format of its receiver, with the value of the receiver's team secret. */
export function renderRequest(
  message: Pick<AlertMessage, 'id' | 'body'>,
  receiver: AlertReceiver,
  secret: string,
  nowMs: number,
): AlertRequest {
  switch (receiver.format) {
    case 'slack':
      return toRequest(secret, renderSlack(parseBody(message)));
    case 'pagerduty':
      return toRequest(receiver.url, renderPagerduty(parseBody(message), secret));
    default:
      return sign(message, receiver.url, secret, nowMs);
  }
}

function parseBody({ body }: Pick<AlertMessage, 'body'>): AlertBody {
  return parseJsonText(body) as AlertBody;
}

function toRequest(url: string, body: object, headers: Readonly<Record<string, string>> = {}): AlertRequest {
  const common = { 'content-type': 'application/json', 'user-agent': 'hookmill' };
  return { url, headers: { ...common, ...headers }, body: JSON.stringify(body) };
}

function sign({ id, body }: Pick<AlertMessage, 'id' | 'body'>, url: string, secret: string, nowMs: number) {
  const scheme = describeScheme('standard-webhooks');
  if (!scheme) throw new Error('the scheme of Standard Webhooks is missing');
  const headers = signRequest(scheme, secret, { body: Buffer.from(body), url, method: 'POST', nowMs, id });
  return { ...toRequest(url, {}, headers), body };
}

// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
// https://docs.slack.dev/messaging/formatting-message-text: only these three characters are escaped.
function renderSlack({ data }: AlertBody) {
  const toMrkdwn = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const { status, factory, summary, remedy, link } = data;
  const title = `*${titles[status]}*${factory === null ? '' : ` (${toMrkdwn(factory)})`}`;
  const lines = [`${title}: ${toMrkdwn(summary)}`, remedy === null ? '' : toMrkdwn(remedy), `<${link}>`];
  return { text: lines.filter(line => line !== '').join('\n') };
}

const warningTypes: ReadonlySet<string> = new Set([
  'webhook.quiet',
  'webhook.missed',
  'quota.full',
] satisfies AlertType[]);

// https://developer.pagerduty.com/docs/send-alert-event
function renderPagerduty({ type, timestamp, data }: AlertBody, routingKey: string) {
  const { id, status, factory, summary, remedy, link } = data;
  return {
    routing_key: routingKey,
    event_action: status === 'open' ? 'trigger' : 'resolve',
    dedup_key: id,
    payload: {
      summary: summary.slice(0, pagerdutySummaryCharsMax),
      source: factory === null ? 'hookmill' : `hookmill/${factory}`,
      severity: warningTypes.has(type) ? 'warning' : 'error',
      timestamp,
      class: type,
      custom_details: { remedy },
    },
    links: [{ href: link, text: 'hookmill' }],
  };
}
