// Sends the answer that an agent left to an incoming webhook of Slack, as plain text: node send-slack-message.mjs
//   answer.md: at most 3,000 characters once they are escaped, as many as a text object can have
// Interface: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and
// https://docs.slack.dev/reference/block-kit/composition-objects/text-object
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  artifact,
  checkLength,
  endWithout,
  fail,
  readText,
  request,
  variable,
  writeResult,
} from './safe-output.mjs';

endWithout('answer.md');
// Slack makes no mentions and no formatting of plain_text, and with these escaped, not of other text either:
// https://docs.slack.dev/messaging/formatting-message-text. A link needs "://".
const text = readText('answer.md', 64 * 1024)
  .trim()
  .replaceAll('&', '&amp;')
  .replaceAll('<', '&lt;')
  .replaceAll('>', '&gt;')
  .replaceAll('://', ':\u200b//');
checkLength('answer.md', text, 3000);

// A webhook cannot look for what it sent. hookmill keeps this file for the next attempt. An agent cannot know its content.
const url = variable('SLACK_WEBHOOK_URL');
const file = artifact('sent-to-slack');
const sent = createHmac('sha256', url).update(variable('HOOKMILL_RUN_ID')).digest('hex');
if (!existsSync(file) || readFileSync(file, 'utf8') !== sent) await send();
writeResult('Sent a message to Slack');

async function send() {
  const response = await request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      text: 'A run of hookmill has an answer', // only in notifications
      mrkdwn: false,
      blocks: [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }],
      // Slack fetches the links of a message otherwise: https://docs.slack.dev/messaging/unfurling-links-in-messages
      unfurl_links: false,
      unfurl_media: false,
    }),
  });
  if (response.status !== 200) fail(`Slack answered ${response.status}`);
  writeFileSync(file, sent);
}
