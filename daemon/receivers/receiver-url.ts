import { z } from 'zod';
import { addMistake } from '../../schema/definitions/add-mistake.ts';

/** A URL that the operator lets the daemon post to. */
export const receiverUrl = z.string().superRefine((text, context) => {
  if (isReceiverUrl(text)) return;
  addMistake(context, [], 'not a valid URL of a receiver', {
    code: 'definition/value',
    hint: 'use http:// or https://, without user or password',
  });
});

/** Whether a text is a URL that the daemon may post to. */
export function isReceiverUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
