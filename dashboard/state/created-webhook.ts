import type { CreatedWebhook } from '../api-answers.ts';

let created: CreatedWebhook | undefined;

/** Hands a webhook that was just created to its page, with the secret that was made for it. */
export function handOver(answer: CreatedWebhook): void {
  created = answer;
}

/** Takes what was handed over, once: from then on only the page that shows the secret has it. */
export function takeCreated(uid: string): CreatedWebhook | undefined {
  const taken = created;
  created = undefined;
  return taken?.webhook.uid === uid ? taken : undefined;
}
